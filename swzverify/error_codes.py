"""What each error code stands for, in a few words: the titles of the pages in docs/errors/.

Every code that the package raises is here, and nothing else; a test holds this table, the package,
the pages and their index against each other. This module imports nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TITLES: Mapping[str, str] = MappingProxyType(
    {
        # a spec file
        "SWZ101": "the file cannot be read as a spec",
        "SWZ102": "not YAML",
        "SWZ103": "a key given twice",
        "SWZ104": "an unknown or missing key",
        "SWZ105": "a value of the wrong type, or outside what is allowed",
        "SWZ106": "an unknown or ambiguous name",
        "SWZ107": "too large, too deep or too many",
        "SWZ108": "a YAML feature that specs do not have",
        "SWZ109": "the version of the spec is missing or unknown",
        "SWZ110": "it does not fit into shared memory",
        "SWZ111": "a character that cannot be seen, or that reorders a line",
        "SWZ112": "a key that is not ASCII",
        "SWZ121": "a contract's marker that begins or ends nothing",
        "SWZ122": "a constant that the code does not define",
        "SWZ123": "not one plain integer constant of the code",
        "SWZ124": "a source file that may not or cannot be read",
        "SWZ125": "a constant that differs from the code",
        "SWZ126": "a constant that is read from the code and used nowhere",
        # layouts and swizzles
        "SWZ200": "not the notation of a layout or swizzle",
        "SWZ201": "a negative stride, offset or size",
        "SWZ202": "a number that is not an int",
        "SWZ203": "an extent of 0",
        "SWZ204": "shape and stride are nested differently",
        "SWZ205": "a coordinate that does not fit the shape",
        "SWZ206": "a layout beyond what is modelled",
        "SWZ208": "layout algebra without a result",
        "SWZ209": "more modes than the layout has",
        "SWZ210": "an illegal swizzle",
        "SWZ211": "a swizzle that tears elements apart",
        "SWZ212": "an address swizzle on elements that are no whole bytes",
        "SWZ213": "the cosize of a swizzled layout takes too long",
        "SWZ214": "a padded array of another form",
        "SWZ220": "the rows of a TMA box are no multiple of 16 bytes",
        "SWZ221": "a TMA box wider than its swizzle",
        "SWZ222": "a TMA box at a base that is not aligned",
        "SWZ223": "an unknown TMA swizzle mode",
        "SWZ224": "elements that do not fit the rows of a TMA swizzle",
        "SWZ225": "a TMA box with more than 256 elements in a dimension",
        "SWZ226": "a TMA box on a target without TMA",
        # expressions
        "SWZ301": "an unknown name in an expression",
        "SWZ302": "not a C integer expression",
        "SWZ303": "a value outside -2^31 .. 2^32 - 1",
        "SWZ304": "a shift by a negative amount, or by 32 or more",
        "SWZ305": "a divisor that can be 0",
        "SWZ306": "a negative coordinate or address, or a stage that does not exist",
        "SWZ307": "a thread's axis that the block does not say",
        "SWZ310": "lets that stand for one another in a circle",
        # hardware
        "SWZ401": "an unknown instruction",
        "SWZ402": "an unknown target",
        "SWZ403": "an instruction that the target lacks",
        "SWZ404": "addresses that no warp instruction can have",
        "SWZ405": "a matrix instruction with a lane that has no address",
        "SWZ406": "a warp-wide instruction without the whole warp",
        "SWZ407": "an instruction wider than the tile's run of elements",
        # the command line
        "SWZ501": "no such file or folder",
        "SWZ502": "a pattern that matches nothing",
        "SWZ503": "a file or folder that cannot be read",
        "SWZ504": "a file that cannot be written",
        "SWZ505": "the installation has no proofs",
        "SWZ506": "no theorem of that name",
        # known failures
        "SWZ511": "known failures that cannot be read",
        "SWZ512": "not a file of known failures",
        "SWZ513": "known failures that cannot be written",
        # comparisons
        "SWZ514": "not in a git repository",
        "SWZ515": "no git",
        "SWZ516": "nothing certain to compare",
        "SWZ517": "git failed",
        "SWZ518": "an allowance for a claim that neither side has",
        "SWZ519": "a spec that is no plain file of its tree",
        # starters
        "SWZ521": "a spec or schema that cannot be written",
        "SWZ522": "a file that exists already",
        "SWZ523": "not a tile's rows and columns",
        "SWZ524": "an instruction that does not go with the elements or rows",
        "SWZ525": "threads that cannot share the tile",
        "SWZ526": "no swizzle known for the rows",
        "SWZ527": "a starter with a claim that has no answer",
        # PTX
        "SWZ531": "not a PTX text",
        "SWZ532": "PTX that cannot be read",
        "SWZ533": "a PTX file beyond the limits",
        # binaries and sources
        "SWZ541": "a binary without PTX for the target",
        "SWZ542": "no cuobjdump or nvcc",
        "SWZ543": "cuobjdump or nvcc failed",
        # what is given of kernels
        "SWZ551": "not a kernel, a parameter or a value of one",
        "SWZ552": "conditions that no parameters fulfil",
        "SWZ553": "compiled code that is not what the spec says, or not known exactly",
        # searches for a layout
        "SWZ561": "nothing to choose a layout by",
        "SWZ562": "a tile whose layout is not to be chosen",
        "SWZ563": "no layout of the family is possible",
        "SWZ564": "what the xor family cannot judge",
        "SWZ565": "a spec that cannot be changed",
        "SWZ566": "a fault of the tile or an access that no layout mends",
        "SWZ567": "an answer that its proof contradicts",
        # sweeps
        "SWZ571": "nothing to sweep",
        "SWZ572": "an axis that a sweep does not have, or cannot be told",
        "SWZ573": "a package that a sweep needs is not installed",
        "SWZ574": "a folder that cannot take a sweep's results",
        "SWZ575": "processes died at one stretch of a sweep",
        "SWZ576": "no cluster to sweep on",
        # pictures
        "SWZ581": "nothing that can be drawn so",
        "SWZ582": "no program to make a PNG",
        "SWZ583": "no parameters to draw a map of",
        # explanations
        "SWZ591": "nothing that can be explained",
        "SWZ592": "no sympy to write matrices with",
        # certificates
        "SWZ601": "no folder of certificates",
        "SWZ602": "a certificate that cannot be read",
        "SWZ603": "a certificate that was changed",
        "SWZ604": "a certificate with a field missing, extra or of another form",
        "SWZ605": "an obligation that is not one",
        "SWZ606": "certificates that cannot be written there",
        "SWZ607": "a proof that no certificate can state",
        "SWZ608": "no solver to recheck with",
        # devices
        "SWZ701": "no GPU at hand",
        "SWZ702": "the device's process failed",
        "SWZ703": "the answers of another program, or only a part of them",
        "SWZ704": "not a recording",
        "SWZ705": "not a calibration",
        "SWZ711": "no profiler",
        "SWZ712": "the profiler may not read the counters",
        "SWZ713": "the profiler failed",
        # Python tests
        "SWZ801": "a named spec with nothing to prove",
        "SWZ802": "an argument that the assertion needs is missing",
        "SWZ803": "an argument that does not go with the subject",
        "SWZ804": "not a layout",
        "SWZ805": "a swizzle that may act on offsets or on addresses",
        "SWZ806": "a function whose value is no byte address",
        "SWZ807": "hypothesis is not installed",
        "SWZ808": "a written test whose claim the spec no longer has",
        "SWZ809": "nothing that can be scanned",
        # faults of swzverify
        "SWZ901": "a fault of swzverify",
        "SWZ902": "a worker process died",
    }
)
