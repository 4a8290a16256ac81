"""What a change of the kernel does to claims on its compiled code."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from tests.diff.conftest import Repository

PTX = """.version 8.3
.target sm_90
.address_size 64
.shared .align 256 .b8 tile[4096];
.entry k()
{
.reg .b32 %r<9>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
mad.lo.u32 %r3, %r1, 4, %r2;
st.shared.u32 [%r3], %r1;
ret;
}
"""
SPEC = """\
swzverify: 1
target: sm_90
accesses:
  code: {instruction: st.shared.b32, threads: 32, compiled: {file: k.ptx, line: 11}, base: {align: 256}}
  said: {instruction: st.shared.b32, threads: 32, address: tid*4, base: {align: 256}}
claims:
  - equivalent: [code, said]
"""


@pytest.mark.parametrize(
    ("after", "code", "words"),
    [(PTX, 0, "1 unchanged"), (PTX.replace("%r1, 4, %r2", "%r1, 8, %r2"), 1, "proved -> refuted")],
    ids=["the same kernel", "another address"],
)
def test_the_kernel_of_each_side_counts(
    after: str, code: int, words: str, repository: Repository, swzverify: Callable[..., Result]
) -> None:
    repository.commit({"k.ptx": PTX, "a.swz.yaml": SPEC})
    repository.put({"k.ptx": after})
    result = swzverify("diff", "HEAD")
    assert (result.exit_code, words in result.stdout) == (code, True), result.stdout


def test_code_that_git_does_not_hold_is_no_success(repository: Repository, swzverify: Callable[..., Result]) -> None:
    repository.commit({".gitignore": "*.ptx\n", "a.swz.yaml": SPEC})
    repository.put({"k.ptx": PTX})
    result = swzverify("diff", "HEAD")
    assert result.exit_code == 2
    assert "k.ptx: No such file" in result.stderr
