"""What a spec says of a listing of machine code."""

from __future__ import annotations

from pydantic import Field

from swzverify.spec.fields import Part, Text


class ListingPart(Part):
    """A listing of machine code, as maxas or nvdisasm writes it."""

    text: Text | None = Field(
        None,
        description="the instructions, one per line",
        examples=["FFMA R2, R4.reuse, R5, R2;\nFFMA R0, R4, R5, R0;\n"],
    )
    file: Text | None = Field(
        None,
        description="the file in place of `text`, from the spec's folder: a listing, or a cubin",
        examples=["build/gemm.sass"],
    )
    function: Text | None = Field(
        None, description="the kernel or function; default: the only one", examples=["_Z4gemmPKfPf"]
    )
    target: Text | None = Field(
        None,
        description="the GPU architecture of this code; default: what the listing names, else that of the spec",
        examples=["sm_52"],
    )
