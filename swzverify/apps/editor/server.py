"""The language server: pygls on one side, a thread that judges texts on the other.

One thread reads and judges, so that the protocol is answered meanwhile. A text that a newer one has
replaced is not judged further.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from lsprotocol import types as lsp
from pygls import uris
from pygls.lsp.server import LanguageServer

from swzverify.apps.editor.actions import Action, actions_at
from swzverify.apps.editor.complete import completions_at
from swzverify.apps.editor.definition import Definition, definitions_at
from swzverify.apps.editor.document import Analysis, Analyst, Mark
from swzverify.apps.editor.hover import hover_at
from swzverify.spec.guard import plain_lines

_T = TypeVar("_T")
_SOURCE = "swzverify"


@dataclass(slots=True)
class _Open:
    """An open text: its newest version, what is known of it, and the last of that which was YAML."""

    version: int = 0
    analysis: Analysis | None = None
    named: Analysis | None = None


@dataclass(slots=True)
class _State:
    analyst: Analyst = field(default_factory=Analyst)
    pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(max_workers=1))
    texts: dict[str, _Open] = field(default_factory=dict[str, _Open])

    async def aside(self, work: Callable[[], _T]) -> _T:
        """The result of work in the thread that judges."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, work)


def make_server(version: str) -> LanguageServer:
    """A server with its features, which nothing runs yet."""
    server = LanguageServer(_SOURCE, version, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
    state = _State()

    async def judge(uri: str, number: int | None) -> None:
        opened = state.texts.setdefault(uri, _Open())
        opened.version = opened.version + 1 if number is None else number
        wanted, text = opened.version, server.workspace.get_text_document(uri).source
        found = await state.aside(lambda: _analysed(state.analyst, text, _path(uri), lambda: opened.version != wanted))
        if found is None or opened.version != wanted or state.texts.get(uri) is not opened:
            return
        opened.analysis = found
        opened.named = found if found.tree is not None else opened.named
        marks = [_diagnostic(server, uri, each) for each in found.marks]
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, marks, version=number))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def _(params: lsp.DidOpenTextDocumentParams) -> None:
        await judge(params.text_document.uri, params.text_document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def _(params: lsp.DidChangeTextDocumentParams) -> None:
        await judge(params.text_document.uri, params.text_document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def _(params: lsp.DidSaveTextDocumentParams) -> None:
        for uri, opened in [*state.texts.items()]:  # a saved source may define constants of an open spec
            if uri != params.text_document.uri and opened.analysis is not None:
                await judge(uri, None)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: lsp.DidCloseTextDocumentParams) -> None:
        state.texts.pop(params.text_document.uri, None)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def _(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        analysis = _current(state, server, uri)
        if analysis is None:
            return None
        line, column = _place(server, uri, params.position)
        text = await state.aside(lambda: hover_at(analysis, line, column))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[":", " ", "{", "["]))
    def _(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        uri = params.text_document.uri
        line, column = _place(server, uri, params.position)
        text = plain_lines(server.workspace.get_text_document(uri).source)
        known = state.texts.get(uri, _Open()).named
        kinds = (lsp.CompletionItemKind.Value, lsp.CompletionItemKind.Property)
        return [
            lsp.CompletionItem(
                each.word,
                kind=kinds[each.is_key],
                detail=each.detail or None,
                insert_text=f"{each.word}: " if each.is_key else each.word,
                sort_text=f"{at:04}",
            )
            for at, each in enumerate(completions_at(text, _path(uri), line, column, known))
        ]

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def _(params: lsp.DefinitionParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        analysis = _current(state, server, uri)
        if analysis is None:
            return []
        line, column = _place(server, uri, params.position)
        found = await state.aside(lambda: definitions_at(analysis, line, column))
        return [_location(server, uri, each) for each in found]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    async def _(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        analysis = _current(state, server, uri)
        if analysis is None or analysis.spec is None:
            return []
        first, last = params.range.start.line + 1, params.range.end.line + 1
        found = await state.aside(lambda: actions_at(state.analyst, analysis, first, last))
        return [_action(uri, each, params.context.diagnostics) for each in found]

    return server


def serve(version: str) -> None:
    """Answer an editor over the standard streams until it goes."""
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing but the protocol may stand there
    make_server(version).start_io(sys.stdin.buffer, out)


def _analysed(analyst: Analyst, text: str, path: str, is_old: Callable[[], bool]) -> Analysis | None:
    return None if is_old() else analyst.analyse(text, path, is_old)


def _current(state: _State, server: LanguageServer, uri: str) -> Analysis | None:
    """What is known of an open text; None while a newer one is judged."""
    opened = state.texts.get(uri)
    found = None if opened is None else opened.analysis
    text = plain_lines(server.workspace.get_text_document(uri).source)
    return found if found is not None and found.text == text else None


def _path(uri: str) -> str:
    return uris.to_fs_path(uri) or uri


def _place(server: LanguageServer, uri: str, position: lsp.Position) -> tuple[int, int]:
    """The line and the column from 1, in characters."""
    document = server.workspace.get_text_document(uri)
    found = document.position_codec.position_from_client_units(document.lines, position)
    return found.line + 1, found.character + 1


def _range(server: LanguageServer, uri: str, line: int, column: int, length: int) -> lsp.Range:
    document = server.workspace.get_text_document(uri)
    start, end = lsp.Position(line - 1, column - 1), lsp.Position(line - 1, column - 1 + length)
    return document.position_codec.range_to_client_units(document.lines, lsp.Range(start, end))


def _diagnostic(server: LanguageServer, uri: str, mark: Mark) -> lsp.Diagnostic:
    severity = lsp.DiagnosticSeverity.Error if mark.is_error else lsp.DiagnosticSeverity.Warning
    where = _range(server, uri, mark.line, mark.column, mark.length)
    return lsp.Diagnostic(where, mark.message, severity, code=mark.code, source=_SOURCE)


def _location(server: LanguageServer, uri: str, found: Definition) -> lsp.Location:
    if found.file == _path(uri):
        return lsp.Location(uri, _range(server, uri, found.line, found.column, found.length))
    place = lsp.Position(found.line - 1, 0)
    return lsp.Location(uris.from_fs_path(found.file) or found.file, lsp.Range(place, place))


def _action(uri: str, action: Action, diagnostics: Sequence[lsp.Diagnostic]) -> lsp.CodeAction:
    if action.new_file:
        new = uris.from_fs_path(action.new_file) or action.new_file
        start = lsp.Position(0, 0)
        identifier = lsp.OptionalVersionedTextDocumentIdentifier(new)
        edit = lsp.WorkspaceEdit(
            document_changes=[
                lsp.CreateFile(new, options=lsp.CreateFileOptions(overwrite=False)),
                lsp.TextDocumentEdit(identifier, [lsp.TextEdit(lsp.Range(start, start), action.new_text)]),
            ]
        )
    else:
        edits = [
            lsp.TextEdit(lsp.Range(lsp.Position(each.first - 1, 0), lsp.Position(each.last - 1, 0)), each.text)
            for each in action.changes
        ]
        edit = lsp.WorkspaceEdit(changes={uri: edits})
    about = [each for each in diagnostics if each.source == _SOURCE and each.range.start.line == action.line - 1]
    return lsp.CodeAction(action.title, lsp.CodeActionKind.QuickFix, diagnostics=about, edit=edit)
