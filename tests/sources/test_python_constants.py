"""Constants of Python sources: what is read is what running the module would give, and the rest is
refused.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from swzverify.errors import SwzError
from swzverify.spec.sources.constants import Constant, constant
from swzverify.spec.sources.languages import Language

READ = {
    "BK = 64": 64,
    "BK: int = 64": 64,
    "BK: tl.constexpr = 64": 64,
    "BM = 128\nBK = BM // 2 + 8": 72,
    "BK = -7 // 2": -4,
    "BK = -7 % 3": 2,
    "BK = 2**6": 64,
    "BK = 1 << 6 | 3 ^ 1": 66,
    "BK = (64 +\n      8)": 72,
    "BK = 0x40; BM = 3": 64,
    "BM = 32; BK = BM * 2": 64,
    "from os.path import *\nBK = 64": 64,
    "BK = 1_024": 1024,
    "BK = ~0 & 63": 63,
    'text = """\nBK = 3\n"""\nBK = 64  # BK = 5': 64,
    "def f(BK=3):\n    return BK\nBK = 64": 64,
    "if True:\n    BM = 3\nBK = 64": 64,
    "class A:\n    BK = 3\nBK = 64": 64,
    "def f():\n    BK = 3\n    return BK\nBK = 64": 64,
    "# -*- coding: utf-8 -*-\nBK = 64": 64,
    "#!/usr/bin/python\n# vim: set fileencoding=latin-1\nBK = 64": 64,
    "import os\n\n# coding: utf-7 is not asked for here\nBK = 64": 64,
    "BK = 64\nname = globals()['BK'] + globals().get('BM', 3)\nassert 'BK' in globals()": 64,
    "BK = 64\ndef f(x):\n    return locals(), dict(**vars(x)), dict(x.__dict__), vars(x)['a']": 64,
    "import importlib\nm = importlib.import_module('os')\nname = getattr(m, 'name')\nBK = 64": 64,
    "class M:\n    def eval(self): return self\n    def exec(self): return self\nM().eval().exec()\nBK = 64": 64,
    "class M: pass\nsetattr(M, 'BM', 3)\nBK = 64": 64,
}

REFUSED = {
    "": ("SWZ122", "defines no constant"),
    "# BK = 64": ("SWZ122", "defines no constant"),
    "x = [BK for BK in range(3)]": ("SWZ122", "defines no constant"),
    "BK = 64.0": ("SWZ123", "no plain integer"),
    "BK = True": ("SWZ123", "no plain integer"),
    "BK = '64'": ("SWZ123", "no plain integer"),
    "BK = int('64')": ("SWZ123", "no plain integer"),
    "BK = tl.constexpr(64)": ("SWZ123", "no plain integer"),
    "BK = 64 / 2": ("SWZ123", "no plain integer"),
    "BK = 64 if x else 3": ("SWZ123", "no plain integer"),
    "BK = not 3": ("SWZ123", "no plain integer"),
    "BK = 64 // 0": ("SWZ123", "no plain integer"),
    "BK = 1 << -1": ("SWZ123", "no plain integer"),
    "BK = 2 ** -1": ("SWZ123", "no plain integer"),
    "BK = 2 ** 2 ** 2 ** 2 ** 2": ("SWZ123", "no plain integer"),
    "BK = 1 << 33": ("SWZ123", "outside"),
    "BK = 10**9 * 10**9": ("SWZ123", "outside"),
    "BK = BM": ("SWZ123", "not defined before it"),
    "BK = BM\nBM = 3": ("SWZ123", "not defined before it"),
    "BK = BK": ("SWZ123", "not defined before it"),
    "BK: int": ("SWZ123", "without a value"),
    "BK = 64\nBK = 32": ("SWZ123", "bound again at line 2"),
    "BK = 64\nBK += 1": ("SWZ123", "bound again"),
    "BK = 64\ndel BK": ("SWZ123", "bound again"),
    "BK = 64\nfor BK in x: pass": ("SWZ123", "bound again"),
    "BK = 64\nimport BK": ("SWZ123", "bound again"),
    "BK = 64\nfrom m import x as BK": ("SWZ123", "bound again"),
    "BK = 64\nwith a as BK: pass": ("SWZ123", "bound again"),
    "BK = 64\ntry: pass\nexcept E as BK: pass": ("SWZ123", "bound again"),
    "BK = 64\nmatch x:\n    case [BK, *_]: pass": ("SWZ123", "bound again"),
    "BK = 64\nmatch x:\n    case {'a': 1, **BK}: pass": ("SWZ123", "bound again"),
    "BK = 64\nprint(BK := 3)": ("SWZ123", "bound again"),
    "BK = 64\nx = (BK := 3)": ("SWZ123", "inside an expression at line 2"),
    "BK = 64\ndef BK(): pass": ("SWZ123", "bound again"),
    "BK = 64\nclass BK: pass": ("SWZ123", "bound again"),
    "BK = 64\ndef f():\n    global BK\n    BK = 3": ("SWZ123", "set from another scope by line 3"),
    "BK = 64\nif x:\n    BK = 32": ("SWZ123", "bound again"),
    "if x:\n    BK = 32": ("SWZ123", "under `if`"),
    "while x:\n    BK = 32": ("SWZ123", "under `while`"),
    "try:\n    BK = 32\nexcept E: pass": ("SWZ123", "under `try`"),
    "BK = BM = 64": ("SWZ123", "no plain assignment"),
    "BK, BM = 64, 32": ("SWZ123", "no plain assignment"),
    "from config import BK": ("SWZ123", "is imported"),
    "def f(BK: tl.constexpr = 64): pass": ("SWZ123", "is a parameter", "f.BK"),
    "BM = 64\nclass A:\n    BK = BM": ("SWZ123", "not defined before it", "A.BK"),
    "class A:\n    BK = 1\nclass B:\n    BK = 2": ("SWZ122", "A::BK (line 2), B::BK"),
    "class C: A = 7; BK = A * 2; A = 3": ("SWZ123", "'A' (line 1) is bound again", "C.BK"),
    "B = 7\nclass C: BK = B * 2; B = 3": ("SWZ123", "B is not defined before it", "C.BK"),
    "class A:\n    BK = 64\nA.BK = 32": ("SWZ123", "attribute that line 3 sets", "A.BK"),
    "class A:\n    BK = 64\nA.BK //= 2": ("SWZ123", "attribute that line 3 sets", "A.BK"),
    "class A:\n    BK = 64\nfor A.BK in x: pass": ("SWZ123", "attribute that line 3 sets", "A.BK"),
    "BK = 64\ndel m.BK": ("SWZ123", "attribute that line 2 sets"),
    "class A:\n    BK = 64\nA = type('A', (), {})": ("SWZ123", "bound in another way", "A.BK"),
    "class A:\n    BK = 64\nfrom m import A": ("SWZ123", "bound in another way", "A.BK"),
    "try:\n    from m import A\nexcept E:\n    class A:\n        BK = 64": ("SWZ123", "under `try`", "A.BK"),
    "if x:\n    class A:\n        BK = 64": ("SWZ123", "under `if`", "A.BK"),
    "if x:\n    def f():\n        BK = 64": ("SWZ123", "under `if`", "f.BK"),
    "BK = 64\nfrom m import *": ("SWZ123", "`import *` at line 2"),
    "BK = 64\nif x:\n    from m import *": ("SWZ123", "`import *` at line 3"),
    "def f():\n    BK = 64\n    def g():\n        nonlocal BK\n        BK = 32": ("SWZ123", "another scope", "f.BK"),
    "BK = 64\ndef f(x=(BK := 32)): pass": ("SWZ123", "inside an expression"),
    "BK = 64\n@d(BK := 32)\ndef f(): pass": ("SWZ123", "inside an expression"),
    "BK = 64\nclass A(d(BK := 32)): pass": ("SWZ123", "inside an expression"),
    "BK = 64\nexec('BK = 3')": ("SWZ123", "may be bound by `exec` at line 2"),
    "BK = 64\nimport builtins\nbuiltins.exec('BK = 3')": ("SWZ123", "may be bound by `builtins` at line 2"),
    "BK = 64\neval('globals().update(BK=3)')": ("SWZ123", "may be bound by `eval` at line 2"),
    "BK = 64\nglobals()['BK'] = 3": ("SWZ123", "may be bound by `globals` at line 2"),
    "BK = 64\nglobals()['BK'] += 3": ("SWZ123", "may be bound by `globals` at line 2"),
    "BK = 64\ndel globals()['BK']\nBM = 3": ("SWZ123", "may be bound by `globals` at line 2"),
    "BK = 64\nglobals().update(BK=3)": ("SWZ123", "may be bound by `globals` at line 2"),
    "BK = 64\nnames = globals()\nnames['BK'] = 3": ("SWZ123", "may be bound by `globals` at line 2"),
    "BK = 64\nnames = globals\nnames()['BK'] = 3": ("SWZ123", "may be bound by `globals` at line 2"),
    "BK = 64\nvars()['BK'] = 3": ("SWZ123", "may be bound by `vars` at line 2"),
    "class A:\n    BK = 64\n    locals()['BK'] = 3": ("SWZ123", "may be bound by `locals` at line 3", "A.BK"),
    "BK = 64\nimport sys\nsys.modules[__name__].__dict__['BK'] = 3": ("SWZ123", "may be bound by `__dict__` at line 3"),
    "BK = 64\nimport sys\nvars(sys.modules[__name__]).update(BK=3)": ("SWZ123", "may be bound by `vars` at line 3"),
    "BK = 64\nimport sys\nnames = sys.modules[__name__].__dict__\nnames['BK'] = 3": ("SWZ123", "`__dict__` at line 3"),
    "BK = 64\nimport sys\nnames = vars(sys.modules[__name__])\nnames['BK'] = 3": ("SWZ123", "`vars` at line 3"),
    "BK = 64\nfrom builtins import exec as run\nrun('BK = 3')": ("SWZ123", "`builtins` at line 2"),
    "BK = 64\nimport builtins\ng = builtins.globals\ng()['BK'] = 3": ("SWZ123", "`builtins` at line 2"),
    "BK = 64\nimport sys\nput = setattr\nput(sys.modules[__name__], 'B' + 'K', 3)": ("SWZ123", "`setattr` at line 3"),
    "BK = 64\nimport sys\nput = object.__setattr__\nput(sys.modules[__name__], 'B' + 'K', 3)": (
        "SWZ123",
        "`__setattr__` at line 3",
    ),
    "BK = 64\ndef f(): pass\nf.__globals__['BK'] = 3": ("SWZ123", "`__globals__` at line 3"),
    "BK = 64\nimport sys\nsys._getframe().f_globals['BK'] = 3": ("SWZ123", "at line 3"),
    "BK = 64\nimport inspect\ninspect.currentframe().f_globals['BK'] = 3": ("SWZ123", "at line 3"),
    "BK = 64\nfrom inspect import currentframe as f\nf().f_globals['BK'] = 3": ("SWZ123", "at line 2"),
    "BK = 64\nrun = __import__('builtins').exec\nrun('BK = 3', globals())": ("SWZ123", "at line 2"),
    "BK = 64\nimport importlib\nimportlib.import_module('built' + 'ins').exec('BK = 3', globals())": (
        "SWZ123",
        "at line 3",
    ),
    "BK = 64\nload = __import__\nload('builtins').exec('BK = 3')": ("SWZ123", "`__import__` at line 2"),
    "BK = 64\nimport sys\ngetattr(sys.modules[__name__], '__dict__')['BK'] = 3": ("SWZ123", "`__dict__` at line 3"),
    "BK = 64\nimport sys, types\nsys.modules[__name__] = types.SimpleNamespace(BK=3)": (
        "SWZ123",
        "`modules` at line 3",
    ),
    "class A:\n    BK = 64\nsetattr(A, 'BK', 3)": ("SWZ123", "attribute that line 3 sets", "A.BK"),
    "class A:\n    BK = 64\nfor name in ['BK']: setattr(A, name, 3)": (
        "SWZ123",
        "bound by `setattr` at line 3",
        "A.BK",
    ),
    "class A:\n    BK = 64\ntype.__setattr__(A, 'BK', 3)": ("SWZ123", "attribute that line 3 sets", "A.BK"),
    "class B:\n    BK = 3\nclass A(B):\n    BK = 64\ndelattr(A, 'BK')": ("SWZ123", "attribute that line 5", "A.BK"),
    "BK = 64\nmonkeypatch.setattr('m.BK', 3)": ("SWZ123", "attribute that line 2 sets"),
    "# coding: utf-7\nBK = 64\n#+AAo-BK = 3": ("SWZ123", "in the encoding 'utf-7' (line 1)"),
    "#!/usr/bin/python\n# coding=unicode_escape\nBK = 64\n#\\nBK = 3": ("SWZ123", "in the encoding 'unicode-escape'"),
    "# coding: latin-1\n# \u00e9\nBK = 64": ("SWZ123", "in the encoding 'latin-1'"),
    "BK = 64\n\uff22\uff2b = 3": ("SWZ123", "bound again at line 2"),
    "class A:\n    BK = 64\nA.\uff22\uff2b = 3": ("SWZ123", "attribute that line 3 sets", "A.BK"),
    "BK = (": ("SWZ123", "not Python that can be read"),
    "BK = 64\0": ("SWZ123", "not Python that can be read"),
    "BK = " + "(" * 300 + "1" + ")" * 300: ("SWZ123", "not Python that can be read"),
    "BK = " + "-" * 100_000 + "1": ("SWZ123", "not Python"),
    "BK = " + "1+" * 300 + "1": ("SWZ123", "longer"),
}


def value(source: str, name: str = "BK") -> int:
    return constant(source, Language.PYTHON, name).value


@pytest.mark.parametrize("source", READ)
def test_constants_are_read_as_python_would(source: str) -> None:
    assert value(source) == READ[source]
    names: dict[str, object] = {}
    exec(re.sub(r": tl\.constexpr", "", source), names)  # noqa: S102 - the test's own text
    assert names["BK"] == READ[source]


@pytest.mark.parametrize("source", REFUSED)
def test_what_may_be_another_value_is_refused(source: str) -> None:
    code, words, *name = REFUSED[source]
    with pytest.raises(SwzError, match=re.escape(words)) as caught:
        value(source, *name)
    assert caught.value.code == code


WORDS = re.compile(r"exec|eval|globals|vars|locals|__dict__|setattr|delattr|coding|builtins|modules")
ANOTHER_VALUE = [source for source in REFUSED if WORDS.search(source)]


@pytest.mark.parametrize("source", ANOTHER_VALUE)
def test_python_gives_another_value(source: str, tmp_path: Path) -> None:
    """What the new refusals are for: the module, run by Python, has something else than 64, or
    nothing.
    """
    if "monkeypatch" in source or "latin" in source:
        return
    name = REFUSED[source][2] if len(REFUSED[source]) > 2 else "BK"
    (tmp_path / "module.py").write_text(source, encoding="utf-8")
    program = f"import module\nassert getattr(module, 'A', module).{name.split('.')[-1]} == 64"
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert re.search("AssertionError|AttributeError", ran.stderr)


SCOPED = "class A:\n    BK = 32\n    class B:\n        LD = 40\n\ndef f():\n    BK = 16\n"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("A.BK", Constant(32, 2)), ("A::BK", Constant(32, 2)), ("f.BK", Constant(16, 7)), ("A::B.LD", Constant(40, 4)),
     ("A.B.LD", Constant(40, 4))],
)  # fmt: skip
def test_scopes(name: str, expected: Constant) -> None:
    assert constant(SCOPED, Language.PYTHON, name) == expected


def expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([str(rng.randrange(70)), hex(rng.randrange(300)), "A", "B"])
    if rng.random() < 0.2:
        return f"{rng.choice('-~+')}({expression(rng, depth - 1)})"
    op = rng.choice(["+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "**"])
    return f"({expression(rng, depth - 1)} {op} {expression(rng, depth - 1)})"


def test_random_expressions_have_pythons_values() -> None:
    rng = random.Random(6)
    read = 0
    for _ in range(3000):
        source = f"A = 7\nB = -12\nN = {expression(rng, rng.randrange(1, 4))}\n"
        try:
            found = value(source, "N")
        except SwzError:
            continue
        names: dict[str, int] = {}
        exec(source, names)  # noqa: S102 - the test's own text
        assert found == names["N"], source
        read += 1
    assert read > 1000


@pytest.mark.filterwarnings("error")
def test_odd_literals_warn_nobody() -> None:
    assert value("BK = 64\nBM = 3or 4\n") == 64
    with pytest.raises(SwzError, match="no plain integer"):
        value("BK = 3or 4\n")


def test_nothing_is_run() -> None:
    with pytest.raises(SwzError):
        value("import os\nos.environ['SWZ_RAN'] = '1'\nBK = exec('raise SystemExit')")
    import os

    assert "SWZ_RAN" not in os.environ
