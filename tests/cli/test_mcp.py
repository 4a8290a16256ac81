"""The server for agents, asked by the SDK's own client over the standard streams of a process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from swzverify.apps.cli import main
from swzverify.apps.commands import mcp_tools

SPEC = """\
swzverify: 1
tiles:
  T: {element: f32, layout: "(32,32):(32,1)"}
accesses:
  read: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
claims:
  - bijective: T
  - conflict_free: read
"""
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
.reqntid 32, 1, 1
{
  .reg .b32 %r<4>;
  .shared .align 4 .b8 t[8192];
  mov.u32 %r1, %tid.x;
  shl.b32 %r1, %r1, 7;
  mov.u32 %r2, t;
  add.s32 %r2, %r2, %r1;
  ld.shared.u32 %r3, [%r2];
  ret;
}
"""
LONGEST_S = 60


class Agent:
    """An agent with one server."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.loop = asyncio.new_event_loop()
        self.thread = Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.stop = asyncio.Event()
        self.ready: asyncio.Future[Client] = self.loop.create_future()
        self.life = asyncio.run_coroutine_threadsafe(self._live(), self.loop)
        self.client = self._wait(self._client())

    async def _live(self) -> None:
        environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
        command = ["-m", "swzverify", "mcp", "--root", str(self.root)]
        async with AsyncExitStack() as stack:
            server = StdioServerParameters(command=sys.executable, args=command, env=environment)
            self.ready.set_result(await stack.enter_async_context(Client(server)))
            await self.stop.wait()

    async def _client(self) -> Client:
        return await self.ready

    def _wait(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(LONGEST_S)

    def tools(self) -> dict[str, dict[str, object]]:
        return {tool.name: tool.input_schema for tool in self._wait(self.client.list_tools()).tools}

    def call(self, tool: str, **arguments: object) -> CallToolResult:
        return self._wait(self.client.call_tool(tool, arguments))

    def text(self, tool: str, **arguments: object) -> str:
        """The answer of a call that is no error."""
        found = self.call(tool, **arguments)
        assert not found.is_error, found
        (part,) = found.content
        return part.text

    def error(self, tool: str, **arguments: object) -> str:
        """What is told of a call that is refused."""
        found = self.call(tool, **arguments)
        assert found.is_error, found
        (part,) = found.content
        return part.text

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.stop.set)
        self.life.result(LONGEST_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(LONGEST_S)
        self.loop.close()


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    outer = tmp_path_factory.mktemp("outer")
    root = outer / "root"
    (root / "below").mkdir(parents=True)
    (outer / ".git").mkdir()  # the root is a part of a repository, whose other files are none of the agent's
    (outer / "secret.cu").write_text("constexpr int N = 42;\n", "utf-8")
    (outer / "secret.swz.yaml").write_text(SPEC, "utf-8")
    (root / "a.swz.yaml").write_text(SPEC, "utf-8")
    (root / "below" / "k.ptx").write_text(PTX, "utf-8")
    (root / "link.swz.yaml").symlink_to(outer / "secret.swz.yaml")
    (root / "up").symlink_to(outer)
    reads = "swzverify: 1\nfrom_source: {N: {file: FILE}}\ntiles: {A: {element: f32, layout: '(8,N):(N,1)'}}\n"
    (root / "up.swz.yaml").write_text(reads.replace("FILE", "../secret.cu"), "utf-8")
    (root / "linked.swz.yaml").write_text(reads.replace("FILE", "up/secret.cu"), "utf-8")
    started = Agent(root)
    yield started
    started.close()


def test_the_tools_and_what_they_take(agent: Agent) -> None:
    tools = agent.tools()
    assert list(tools) == ["prove", "scan", "synth", "explain", "show", "cost"]
    assert set(tools["prove"]["properties"]) == {"path", "text", "select"}
    assert tools["scan"]["required"] == ["path"]


def test_prove_answers_with_the_report(agent: Agent) -> None:
    report = json.loads(agent.text("prove", path="a.swz.yaml"))
    assert report["schema"] == "swzverify.report/1"
    assert [claim["verdict"] for claim in report["claims"]] == ["proved", "refuted"]
    assert report["claims"][1]["cures"][1]["change"] == "Swizzle<5,0,5> on element offsets"
    typed = json.loads(agent.text("prove", text=SPEC.replace("(32,1)", "(33,1)"), select=["conflict_free"]))
    assert [claim["verdict"] for claim in typed["claims"]] == ["proved"]
    broken = json.loads(agent.text("prove", text="swzverify: 1\ntiels: {}\n"))
    assert broken["problems"][0]["code"] == "SWZ104"


def test_the_other_tools(agent: Agent) -> None:
    scanned = json.loads(agent.text("scan", path="below/k.ptx"))
    assert [access["verdict"] for access in scanned["accesses"]] == ["conflict"]
    answer = json.loads(agent.text("synth", path="a.swz.yaml"))
    assert (answer["schema"], answer["wavefronts"]) == ("swzverify.synth/1", {"read": 1})
    explained = json.loads(agent.text("explain", what="(32,32):(32,1)", element="f32", coord="lane,0"))
    assert explained["schema"] == "swzverify.explanation/1"
    assert "bank 0" in agent.text("show", what="a.swz.yaml", access="read")
    costs = json.loads(agent.text("cost", path="a.swz.yaml"))
    assert [(row["access"], row["wavefronts"]) for row in costs["accesses"]] == [("read", 32)]


OUTSIDE = ["../secret.swz.yaml", "link.swz.yaml", "up/secret.swz.yaml", "/etc/passwd", "below/../../secret.swz.yaml"]


@pytest.mark.parametrize("path", [*OUTSIDE, "missing.swz.yaml", "below", "a\0b"])
@pytest.mark.parametrize("tool", ["prove", "scan", "synth", "cost"])
def test_no_file_outside_the_root_is_read(agent: Agent, tool: str, path: str) -> None:
    assert "SWZ612" in agent.error(tool, path=path)


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize("tool", ["explain", "show"])
def test_no_layout_is_a_file_outside_the_root(agent: Agent, tool: str, path: str) -> None:
    assert "SWZ612" in agent.error(tool, what=path, tile="T")


@pytest.mark.parametrize("path", ["up.swz.yaml", "linked.swz.yaml"])
def test_no_spec_names_a_file_outside_the_root(agent: Agent, path: str) -> None:
    problem = json.loads(agent.text("prove", path=path))["problems"][0]
    assert problem["code"] == "SWZ124"
    assert "42" not in json.dumps(problem)
    report = CliRunner().invoke(main, ["prove", str(agent.root / path), "--format", "json"]).stdout
    assert not json.loads(report)["problems"], "without the server the repository is the bound"


def test_answers_and_work_are_bounded(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    many = SPEC.replace("swzverify: 1\n", f"swzverify: 1\nconstants: {{P: [{', '.join(map(str, range(130)))}]}}\n")
    assert "260 claims, at most 256" in agent.error("prove", text=many)
    with monkeypatch.context() as smaller:
        smaller.chdir(agent.root)
        smaller.setattr(mcp_tools, "MOST_CHARACTERS", 100)
        with pytest.raises(Exception, match=r"SWZ613.*the answer has \d+ characters"):
            mcp_tools.called(mcp_tools.cost, {"path": "a.swz.yaml"})
    (agent.root / "large.ptx").write_text(PTX + "//" + " " * mcp_tools.MOST_PTX_BYTES, "utf-8")
    assert "SWZ613" in agent.error("scan", path="large.ptx")
    (agent.root / "k.cu").write_text("", "utf-8")
    assert "nothing is compiled" in agent.error("scan", path="k.cu")
    assert "--block" in agent.error("scan", path="below/k.ptx", block="x")
    os.mkfifo(agent.root / "pipe.swz.yaml")
    assert "SWZ612" in agent.error("prove", path="pipe.swz.yaml")


def test_the_root_must_be_there_and_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CliRunner().invoke(main, ["mcp", "--root", "no/such"]).exit_code == 2
    monkeypatch.delitem(sys.modules, "swzverify.apps.commands.mcp_server", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = CliRunner().invoke(main, ["mcp"])
    assert result.exit_code == 2
    assert "pip install 'swzverify[mcp]'" in result.stderr
