"""Links from the pages to files outside docs/.

They are right on GitHub. On the site they lead to the repository, if it has an address, and otherwise
are the file's name. A file that does not exist is a warning, and so ends a strict build.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Take part in the build."""
    app.add_config_value("repository_url", "", "env")
    app.add_transform(RepositoryLinks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class RepositoryLinks(SphinxTransform):
    """Replaces the links that are no page's and no picture's."""

    default_priority = 5

    def apply(self, **_options: object) -> None:
        """Replace them in one page."""
        for link in [
            *self.document.findall(addnodes.download_reference),
            *self.document.findall(addnodes.pending_xref),
        ]:
            target = str(link["reftarget"]).partition("#")[0]
            if not target or target in self.env.found_docs:
                continue
            if link.get("refdomain") == "doc":  # a Markdown page outside docs/, named without its suffix
                target += ".md"
            docs = Path(self.env.srcdir).resolve()
            path = (docs / self.env.docname).parent.joinpath(target).resolve()
            if not path.is_relative_to(docs.parent):
                _log.warning("a link out of the repository: %s", target, location=link)
            elif path.exists():
                link.replace_self(self._shown(link, path.relative_to(docs.parent).as_posix() + "/" * path.is_dir()))

    def _shown(self, link: nodes.Element, name: str) -> list[nodes.Node]:
        """What stands for the link to the file `name` of the repository."""
        content = link.children[0].children if link.children else []
        if self.config.repository_url:
            address = f"{self.config.repository_url.rstrip('/')}/blob/HEAD/{name}"
            return [nodes.reference("", "", *content, refuri=address)]
        shown = nodes.literal(name, name)
        text = link.astext()
        if not text or text.strip("/") == name.strip("/") or Path(text).name == Path(name).name:
            return [shown]
        return [*content, nodes.Text(" ("), shown, nodes.Text(")")]
