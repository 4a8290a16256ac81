"""A real client of the language server, in a process of its own, over its standard streams."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

_T = TypeVar("_T")
LONGEST_S = 20


class Editor:
    """What an editor does, each step waited for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.client = LanguageClient("test", "1")
        self.marks: dict[tuple[str, int | None], list[lsp.Diagnostic]] = {}
        self.came = threading.Condition()
        self.versions: dict[str, int] = {}

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: lsp.PublishDiagnosticsParams) -> None:
            with self.came:
                self.marks[params.uri, params.version] = list(params.diagnostics)
                self.came.notify_all()

        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        self.wait(self.client.start_io(sys.executable, "-m", "swzverify", "lsp", "--stdio", env=environment))
        root = folder.as_uri()
        capabilities = lsp.ClientCapabilities(general=lsp.GeneralClientCapabilities(position_encodings=["utf-16"]))
        self.capabilities = self.wait(
            self.client.initialize_async(lsp.InitializeParams(capabilities, root_uri=root))
        ).capabilities
        self.client.initialized(lsp.InitializedParams())

    def wait(self, work: Coroutine[object, object, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(LONGEST_S)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def open(self, name: str, text: str) -> list[lsp.Diagnostic]:
        """Open a text, and wait for what is marked."""
        self.versions[name] = 1
        document = lsp.TextDocumentItem(self.uri(name), "yaml", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        return self.marked(name)

    def change(self, name: str, text: str) -> list[lsp.Diagnostic]:
        """Replace the whole text, and wait for what is marked."""
        self.versions[name] += 1
        identifier = lsp.VersionedTextDocumentIdentifier(version=self.versions[name], uri=self.uri(name))
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [change]))
        return self.marked(name)

    def marked(self, name: str) -> list[lsp.Diagnostic]:
        key = (self.uri(name), self.versions[name])
        with self.came:
            assert self.came.wait_for(lambda: key in self.marks, LONGEST_S), f"no marks for {key}"
            return self.marks[key]

    def at(self, name: str, line: int, column: int) -> dict[str, object]:
        """A place by its line and column from 1."""
        return {
            "text_document": lsp.TextDocumentIdentifier(self.uri(name)),
            "position": lsp.Position(line - 1, column - 1),
        }

    def hover(self, name: str, line: int, column: int) -> str:
        found = self.wait(self.client.text_document_hover_async(lsp.HoverParams(**self.at(name, line, column))))
        return "" if found is None else found.contents.value

    def complete(self, name: str, line: int, column: int) -> list[lsp.CompletionItem]:
        params = lsp.CompletionParams(**self.at(name, line, column))
        return self.wait(self.client.text_document_completion_async(params))

    def definition(self, name: str, line: int, column: int) -> list[tuple[str, int, int]]:
        params = lsp.DefinitionParams(**self.at(name, line, column))
        found = self.wait(self.client.text_document_definition_async(params))
        return [(Path(each.uri).name, each.range.start.line + 1, each.range.start.character + 1) for each in found]

    def actions(self, name: str, line: int) -> list[lsp.CodeAction]:
        place = lsp.Position(line - 1, 0)
        identifier = lsp.TextDocumentIdentifier(self.uri(name))
        context = lsp.CodeActionContext(self.marked(name))
        params = lsp.CodeActionParams(identifier, lsp.Range(place, place), context)
        return self.wait(self.client.text_document_code_action_async(params))

    def close(self) -> int | None:
        self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        self.wait(self.client.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(LONGEST_S)
        self.loop.close()
        return self.client._server.returncode  # pygls has no other way to it


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor with the server, one for all tests of a module."""
    started = Editor(tmp_path_factory.mktemp("workspace"))
    yield started
    assert started.close() == 0
