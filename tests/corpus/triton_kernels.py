"""The PTX of Triton kernels whose modules need libraries that are not wanted here.

Only the kernel's own function is taken out of its file, and compiled for a target without a GPU.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from typing import Any

PREAMBLE = ("import triton", "import triton.language as tl", "from triton.language.extra.libdevice import rsqrt")


def text_of(file: Path, kernel: str, lines: list[str]) -> str:
    """A module with the kernel alone, under `@triton.jit`, after the preamble and lines of ours.

    Raises:
        StopIteration: the file has no such function.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == kernel)
    found.decorator_list = [ast.parse("triton.jit", mode="eval").body]
    return "\n".join([*PREAMBLE, *lines, ast.unparse(found)]) + "\n"


def ptx_of(file: Path, kernel: str, build: dict[str, Any], work: Path) -> str:
    """The kernel's PTX for `sm_90`. What has a value in `build["constants"]` is one; other arguments
    are of the type that `build["types"]` says, pointers to floats where their names end in `_ptr`, and
    32-bit integers else.

    Raises:
        ModuleNotFoundError: there is no Triton here.
    """
    import triton  # pyright: ignore[reportMissingImports]
    from triton.backends.compiler import GPUTarget  # pyright: ignore[reportMissingImports]
    from triton.compiler import ASTSource  # pyright: ignore[reportMissingImports]

    path = work / "kernel.py"
    path.write_text(text_of(file, kernel, build.get("lines", [])), encoding="utf-8")
    name = f"corpus{kernel}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function = getattr(module, kernel)
    constants, types = build.get("constants", {}), build.get("types", {})
    signature = {
        argument: "constexpr"
        if argument in constants
        else types.get(argument, "*fp32" if argument.endswith("_ptr") else "i32")
        for argument in function.arg_names
    }
    source = ASTSource(fn=function, signature=signature, constexprs=constants)
    return str(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"])
