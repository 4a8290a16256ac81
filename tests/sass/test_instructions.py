"""Listings as text: every spelling that is read, and what is not read."""

from __future__ import annotations

import pytest

from swzverify.compiled.sass import ListingError
from swzverify.compiled.sass.instructions import read_instructions, rewritten, target_of
from swzverify.subjects.listing import ListedInstruction, Work

MAXWELL, VOLTA = 4, 2


def one(text: str, banks: int = MAXWELL) -> ListedInstruction:
    (found,) = read_instructions(text, banks).functions[""]
    return found


def reads(text: str, banks: int = MAXWELL) -> list[tuple[int, int | None, bool]]:
    return [(each.register, each.slot, each.reuse) for each in one(text, banks).reads]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FFMA R37, R71.reuse, R72.reuse, R37;", [(71, 2, True), (72, 3, True), (37, 4, False)]),
        ("--:-:-:-:1 FFMA R37, R71.reuse, R72, R37;", [(71, 2, True), (72, 3, False), (37, 4, False)]),
        ("01:-:1:Y:0      FFMA R0, R1, R2, R3;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("[B------:R-:W-:-:S01] FFMA R0, R1, R2, R3;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("/*0a30*/ FFMA R0, R1, R2, R3 ; /* 0x59a0018000270100 */", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("{ FFMA R0, R1, R2, R3;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("FFMA.FTZ R0, -R1.reuse, |R2|, ~R3 ;", [(1, 2, True), (2, 3, False), (3, 4, False)]),
        ("FFMA R0, R1, RZ, R3;", [(1, 2, False), (3, 4, False)]),
        ("FFMA R0, R1, c[0x0][0x140], R3;", [(1, 2, False), (3, None, False)]),
        ("FFMA R0, R1, R2, c[0x2][0x0];", [(1, 2, False), (2, None, False)]),
        ("FFMA R0, R1, 1.5e-3, R3;", [(1, 2, False), (3, None, False)]),
        ("FADD R0, R1, R2", [(1, 2, False), (2, 3, False)]),
        ("FADD32I R0, R1, 2;", [(1, 2, False)]),
        ("ISETP.LE.AND P0, PT, R1, R2, PT;", [(1, 2, False), (2, 3, False)]),
        ("IADD R0.CC, R1, R2;", [(1, 2, False), (2, 3, False)]),
        ("XMAD.MRG R0, R1.H1, R2.H1.reuse, RZ;", [(1, 2, False), (2, 3, True)]),
        ("LOP3.LUT R0, R1, R2, R3, 0x80;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("LEA R0, R1, R2, 0x2;", [(1, 2, False), (2, 3, False)]),
        ("LEA.HI.X R0, R1, R2, R3, 0x2, P0;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("MOV R0, R1;", [(1, 3, False)]),
        ("IADD3 R0, P1, R1, R2, R3;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
    ],
)
def test_the_sources_of_maxwell(text: str, expected: list[tuple[int, int | None, bool]]) -> None:
    found = one(text)
    assert found.work is Work.ARITHMETIC, found.why
    assert reads(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IMAD R0, R1, R2, R3 ;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("IMAD.MOV.U32 R0, RZ, RZ, R3 ;", [(3, 4, False)]),
        ("FFMA R0, R1, UR4, R3 ;", [(1, 2, False), (3, None, False)]),
        ("IADD3.X R0, R1, R2, R3, P0, !PT ;", [(1, 2, False), (2, 3, False), (3, 4, False)]),
        ("PRMT R0, R1, 0x5410, R2 ;", [(1, 2, False), (2, None, False)]),
        ("SEL R0, R1, R2, P0 ;", [(1, 2, False), (2, None, False)]),
        ("HFMA2 R0, R1.H0_H0, R2, R3 ;", [(1, 2, False), (2, None, False), (3, None, False)]),
        ("MOV R0, R1 ;", [(1, None, False)]),
    ],
)
def test_the_sources_from_volta_on(text: str, expected: list[tuple[int, int | None, bool]]) -> None:
    found = one(text, VOLTA)
    assert found.work is Work.ARITHMETIC, found.why
    assert reads(text, VOLTA) == expected


@pytest.mark.parametrize(
    ("text", "banks", "says"),
    [
        ("HMMA.1688.F32 R0, R4.reuse, R8, R0 ;", VOLTA, "how HMMA.1688.F32 reads its registers is not known"),
        ("IMAD.WIDE R0, R1, R2, R4 ;", VOLTA, "how IMAD.WIDE reads"),
        ("DFMA R0, R2, R4, R6 ;", MAXWELL, "how DFMA reads"),
        ("IMAD R0, R1, R2, R3 ;", MAXWELL, "how IMAD reads"),
        ("XMAD R0, R1, R2, R3 ;", VOLTA, "how XMAD reads"),
        ("FFMA R0, R1, R2.64, R3 ;", MAXWELL, "R2.64 is not understood"),
        ("FFMA R0, R1, [R2], R3 ;", MAXWELL, "[R2] is not understood"),
        ("FFMA R0, R1, c[0x0][R2], R3 ;", MAXWELL, "c[0x0][R2] is not understood"),
        ("FFMA R0, R1, R2, R3, R4 ;", MAXWELL, "more than 3 sources"),
        ("FFMA R3, R4 ;", MAXWELL, "it has fewer than 3 sources"),
        ("FADD R1, R4 ;", MAXWELL, "it has fewer than 2 sources"),
        ("IADD3 R1, R4, R5 ;", VOLTA, "it has fewer than 3 sources"),
        ("MOV R1 ;", VOLTA, "it has fewer than 1 sources"),
        ("FFMA.reuse R3, R4, R5, R6 ;", MAXWELL, "the modifier .reuse is not understood"),
        ("FFMA R3.reuse, R4, R5, R6 ;", MAXWELL, "the register of the result has a reuse mark"),
        ("FFMA 1, R1, R2, R3 ;", MAXWELL, "the register of the result is missing"),
        ("FFMA R0, R1, R255, R3 ;", MAXWELL, "the register R255 does not exist"),
        ("FFMA R0, R1, SR_TID, R3 ;", MAXWELL, "SR_TID is not understood"),
    ],
)
def test_what_is_not_understood_says_so(text: str, banks: int, says: str) -> None:
    found = one(text, banks)
    assert found.work is Work.UNKNOWN
    assert says in found.why


@pytest.mark.parametrize(
    ("text", "work", "writes"),
    [
        ("LDS.U.128 R80, [R106+0x200];", Work.OTHER, (80, 81, 82, 83)),
        ("STS.64 [R8], R4;", Work.OTHER, (4, 5, 6, 7)),
        ("LDG.E R253, desc[UR4][R2.64] ;", Work.OTHER, (253, 254)),
        ("UIADD3 UR4, UR4, 0x1, URZ ;", Work.OTHER, ()),
        ("BAR.SYNC 0x0;", Work.CONTROL, ()),
        ("R2UR UR4, R4 ;", Work.OTHER, (4, 5, 6, 7)),
        ("R2P PR, R4, 0x7f ;", Work.CONTROL, ()),
        ("R2B R4, 0x0 ;", Work.CONTROL, ()),
        ("@P0 EXIT;", Work.CONTROL, ()),
        ("CALL.REL.NOINC `(f) ;", Work.CALL, ()),
    ],
)
def test_the_other_classes(text: str, work: Work, writes: tuple[int, ...]) -> None:
    found = one(text, VOLTA)
    assert (found.work, found.writes, found.reads) == (work, writes, ())


@pytest.mark.parametrize(
    ("text", "expected"), [("@P0 ", True), ("@!PT ", True), ("@PT ", False), ("", False), ("@UP3 ", True)]
)
def test_who_may_not_run(text: str, expected: bool) -> None:
    assert one(f"{text}FADD R0, R1, R2;").predicated is expected


@pytest.mark.parametrize(
    "text",
    [
        "ffma R0, R1, R2, R3;",
        "FFMA R0, R1, R2, R3; FADD R0, R1, R2;",
        "R0 = R1 + R2",
        "--:-:-:-:1",
        "12345",
        "FFMA R0; R1",
        "<SCHEDULE_BLOCK>",
        ".L_2 : FFMA R1, R4, R8, R2;",
        ".L_2 FFMA R1, R4, R8, R2;",
        ".word FFMA R1, R4, R8, R2;",
        "producer FFMA R1, R4, R8, R2;",
        "host FFMA R1, R4, R8, R2;",
        "host = FFMA R1, R4, R8, R2;",
        "compressed FFMA R1, R4, R8, R2",
        ".wordy",
        "R2.H0 R4",
    ],
)
def test_what_is_no_instruction_is_refused(text: str) -> None:
    with pytest.raises(ListingError, match="line 2 of the listing is no instruction"):
        read_instructions(f"NOP;\n{text}\n", MAXWELL)


def joined(text: str, banks: int = MAXWELL) -> list[int]:
    (code,) = read_instructions(text, banks).functions.values()
    return [index for index, each in enumerate(code) if each.joined]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NOP;\nLOOP:\nNOP;\nNOP;", [1]),
        ("START:\nNOP;\nNOP;", []),
        ("START:\nNOP;\n@P0 BRA START;", [0]),
        (".L_x_1:\nNOP;\n@P0 BRA `(.L_x_1);", [0]),
        ("LOOP: NOP;\nNOP;\nBRA LOOP;", [0]),
        ("/*0000*/ NOP;\n/*0010*/ NOP;\n/*0020*/ BRA 0x10;", [1]),
        ("/*0000*/ NOP;\n/*0010*/ BRA 0x40;", [0, 1]),
        ("NOP;\nBRA 0x10;", [0, 1]),
        ("NOP;\nBRX R2 -0x10;", [0, 1]),
        ("NOP;\nBRA OUTSIDE;", [0, 1]),
        ("NOP;\nBRA `(.L_9);", [0, 1]),
        ("/*0000*/ NOP;\n/*0010*/ NOP;\n/*0020*/ BRA 16;", [0, 1, 2]),
        (".L_1:\n/*0000*/ NOP;\n/*0008*/ NOP;\n/*0010*/ @P0 BRA `(.L_1 + 0x8);", [0, 1]),
        ("/*0000*/ NOP;\n/*0008*/ NOP;\n.L_1:\n/*0010*/ @P0 BRA `(.L_1-0x8);", [1, 2]),
        (".L_1:\nNOP;\nNOP;\n@P0 BRA `(.L_1 + 0x8);", [0, 1, 2]),
        (".L_1:\n/*0000*/ NOP;\n/*0008*/ NOP;\n/*0010*/ @P0 BRA `(.L_1 + 0x4);", [0, 1, 2]),
        ("/*0000*/ NOP;\n/*0010*/ NOP;\n/*0020*/ WARPSYNC.COLLECTIVE R9, 0x10;", [1]),
        ("/*0000*/ NOP;\n/*0010*/ NOP;\n/*0020*/ WARPSYNC 0xffffffff;", []),
        ("/*0000*/ NOP;\n/*0010*/ NOP;\n/*0020*/ RET.REL.NODEC R20 0x10;", [1]),
        ("/*0000*/ NOP;\n/*0010*/ NOP;\n/*0020*/ BSSY B0, 0x10;", [1]),
        ("/*0000*/ NOP;\n/*0010*/ CALL.REL.NOINC 0x40;", [0, 1]),
        ("NOP;\nCALL.REL.NOINC `(f);\nRET.REL.NODEC R20 `(k);\nRET;\nCALL.ABS.NOINC R2;", []),
        ("NOP;\nBRA;", [0, 1]),
    ],
)
def test_where_control_may_come_from_elsewhere(text: str, expected: list[int]) -> None:
    assert joined(text) == expected


NVDISASM = """
\t.headerflags\t@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_64BIT_ADDRESS EF_CUDA_SM86 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM86)"
\t.elftype\t@"ET_EXEC"
//--------------------- .text._Z1kPf --------------------------
\t.section\t.text._Z1kPf,"ax",@progbits
\t.sectionflags\t@"SHF_BARRIERS=1"
\t.other\t_Z1kPf,@"STO_CUDA_ENTRY STV_DEFAULT"
_Z1kPf:
.text._Z1kPf:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_0) ;
        /*0020*/                   FFMA R5, R4.reuse, R3, R2 ;
.L_x_0:
        /*0030*/                   EXIT ;
.L_x_1:
        /*0040*/                   BRA `(.L_x_1);
.L_x_2:
\t.section\t.text.other,"ax",@progbits
        /*0000*/                   EXIT ;
\t.section\t.nv.info
\t.align\t4
"""


def test_the_listing_of_nvdisasm() -> None:
    found = read_instructions(NVDISASM, VOLTA).functions
    assert {name: len(code) for name, code in found.items()} == {"_Z1kPf": 5, "other": 1}
    assert [each.joined for each in found["_Z1kPf"]] == [False, False, False, True, True]
    assert [each.line for each in found["_Z1kPf"]] == [10, 11, 12, 14, 16]
    assert target_of(NVDISASM) == "sm_86"


CUOBJDUMP = """
Fatbin elf code:
================
arch = sm_52
code version = [1,7]
host = linux
compile_size = 64bit

\tcode for sm_52
\t\tFunction : _Z1kPf
\t.headerflags    @"EF_CUDA_SM52 EF_CUDA_PTX_SM(EF_CUDA_SM52)"
                                                     /* 0x001c4400fe0007f6 */
        /*0008*/                   MOV R1, c[0x0][0x20] ;      /* 0x4c98078000870001 */
        /*0010*/         {         FADD R0, R2, R3 ;           /* 0x5c58000000370200 */
        /*0018*/                   LDS R4, [R5]         }
                                                     /* 0xef4c000000070504 */
\t\t..........
"""


def test_the_dump_of_cuobjdump() -> None:
    (code,) = read_instructions(CUOBJDUMP, MAXWELL).functions.values()
    assert [each.text.split()[0] for each in code] == ["MOV", "FADD", "LDS"]
    assert target_of(CUOBJDUMP) == "sm_52"


def test_code_for_two_targets_is_refused() -> None:
    fat = CUOBJDUMP + CUOBJDUMP.replace("sm_52", "sm_80").replace("SM52", "SM80")
    with pytest.raises(ListingError, match="it has code for sm_52, sm_80"):
        target_of(fat)


def test_a_function_or_a_label_that_stands_twice_is_refused() -> None:
    with pytest.raises(ListingError, match="begins _Z1kPf a second time"):
        read_instructions(CUOBJDUMP * 2, MAXWELL)
    with pytest.raises(ListingError, match="line 3 of the listing has the label L a second time"):
        read_instructions("L: NOP;\nNOP;\nL: NOP;\nBRA L;", MAXWELL)


@pytest.mark.parametrize(
    "text",
    [
        '.elftype\t@"ET_EXEC"',
        ".align\t128",
        ".type k,@function",
        ".size\tk,(.L_x_2 - k)",
        "identifier: a.cu",
        "compressed",
    ],
)
def test_directives_and_heads_say_nothing(text: str) -> None:
    assert len(read_instructions(f"NOP;\n{text}\nNOP;\n", MAXWELL).functions[""]) == 2


def test_what_maxas_extracts() -> None:
    text = "# Kernel: k\n\n<REGISTER_MAPPING>\n\n    0-15 : R<00-15>\n\n</REGISTER_MAPPING>\n\nStart:\n\n"
    (code,) = read_instructions(f"{text}--:-:-:-:6      MOV R1, c[0x0][0x20];\n", MAXWELL).functions.values()
    assert [(each.line, each.text) for each in code] == [(11, "MOV R1, c[0x0][0x20]")]


def test_a_listing_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.compiled.sass.instructions.MOST_INSTRUCTIONS", 2)
    assert len(read_instructions("NOP;\n" * 2, MAXWELL).functions[""]) == 2
    with pytest.raises(ListingError, match="line 3: a function has more than 2 instructions"):
        read_instructions("NOP;\n" * 3, MAXWELL)


@pytest.mark.parametrize(
    ("text", "numbers", "marks", "results", "expected"),
    [
        ("FFMA R0, -R4.reuse, |R5|, R0", {}, [False, True, True], 1, "FFMA R0, -R4, |R5.reuse|, R0.reuse"),
        ("XMAD R1, R2.H1.reuse, R3, RZ", {2: 7}, [True, False], 1, "XMAD R1, R7.reuse.H1, R3, RZ"),
        ("ISETP.GE.AND P0, PT, R1, R2, PT", {}, [True, True], 0, "ISETP.GE.AND P0, PT, R1.reuse, R2.reuse, PT"),
        ("FFMA R0, R1, UR1, R0", {1: 9, 0: 3}, [True, False], 1, "FFMA R3, R9.reuse, UR1, R3"),
    ],
)
def test_an_instruction_with_other_marks_and_registers(
    text: str, numbers: dict[int, int], marks: list[bool], results: int, expected: str
) -> None:
    found = rewritten(text, numbers, marks, results)
    assert found == expected
    again = [each.reuse for each in one(found).reads]
    assert again == marks


def test_a_line_has_an_end() -> None:
    assert len(read_instructions("NOP;" + " " * 1000 + "\n", MAXWELL).functions[""]) == 1
    with pytest.raises(ListingError, match="line 2 of the listing has more than 2000 characters"):
        read_instructions("NOP;\nNOP" + " " * 3000, MAXWELL)


@pytest.mark.parametrize("text", ["<REGISTER_MAPPING>" * 50_000, "/* */" * 200_000])
def test_a_hostile_text_ends_soon(text: str) -> None:
    """Each of them would take minutes if it were read again from each mark on."""
    assert read_instructions(f"NOP;\n{text}\n", MAXWELL).functions[""][0].text == "NOP"


def test_comments_that_never_end_leave_no_instruction_behind() -> None:
    with pytest.raises(ListingError, match="line 2 of the listing has more than 2000 characters"):
        read_instructions("NOP;\n" + "/*" * 400_000, MAXWELL)
    assert len(read_instructions("NOP;\n/* FFMA R0, R1, R2, R3;\nNOP;", MAXWELL).functions[""]) == 1


def test_many_labels_and_branches_end_soon() -> None:
    text = "".join(f"L{n}: BRA L{n};\n" for n in range(5_000))
    assert all(each.joined for each in read_instructions(text, MAXWELL).functions[""])
