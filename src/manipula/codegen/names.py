"""Names and comments of generated source code, safe whatever a robot file says.

Every identifier matches ``[A-Za-z][A-Za-z0-9_]{0,31}``, is a keyword or a common function of no target language, and
differs from every other one even when case is ignored (file systems, MATLAB). Comments hold only harmless ASCII: nothing
that ends a comment, continues a line or hides text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LONGEST = 32
LONGEST_PREFIX = 24  # prefix + "_" + name stays within the 63 characters that MATLAB allows
_LOCAL = re.compile(r"(t|sin|cos|table|expected)_?[0-9]+", re.IGNORECASE)  # names the generator makes itself

_C = """auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool complex imaginary
asm fortran typeof alignas alignof atomic generic noreturn thread_local static_assert true false nullptr constexpr
and and_eq bitand bitor catch class compl concept const_cast consteval constinit co_await co_return co_yield decltype delete
dynamic_cast explicit export friend module mutable namespace new noexcept not not_eq operator or or_eq private protected
public reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq
main abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
fmin fmod frexp gamma hypot ilogb infinity isnan isinf j0 j1 jn ldexp lgamma llrint lrint log log10 log1p log2 logb lround
modf nan nearbyint nextafter pow remainder remquo rint round scalbn signbit sin sinh sqrt tan tanh tgamma trunc y0 y1 yn
printf puts exit abort malloc free system null size_t errno assert linux unix index stdin stdout stderr signal time"""
_PYTHON = """false none true and as assert async await break class continue def del elif else except finally for from global
if import in is lambda nonlocal not or pass raise return try while with yield match case type np numpy self print eval exec
open input object list dict set tuple str int float len range sum min max abs all any map zip id iter next vars dir super"""
_MATLAB = """break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor endfunction endif
endswitch endwhile for function global if otherwise parfor persistent return spmd switch try until unwind_protect while i j
pi e inf nan eps ans true false zeros ones eye size numel length sum prod inv det norm disp error warning fprintf sprintf
isnan isequal max min abs floor sign sqrt exp log power select nargin nargout varargin varargout ifelse eval feval system
clear figure plot line mod rem fix ceil round cross dot kron struct double single logical char cell test"""
_JULIA = """abstract baremodule begin break catch const continue do else elseif end export false finally for function global if
import in isa let local macro module mutable outer primitive quote return struct true try type using where while base core
main float64 array vector matrix zeros ones copy similar eltype promote_type convert include eval test one zero fill"""
_RUST = """as async await break const continue crate dyn else enum extern false fn for gen if impl in let loop match mod move
mut pub ref return self static struct super trait true type union unsafe use where while abstract become box do final macro
override priv try typeof unsized virtual yield f64 f32 u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool str string vec option
some none ok err result std core drop clone copy default parameters"""

_JAVASCRIPT = """arguments await break case catch class const continue debugger default delete do else enum eval export extends false
finally for function if implements import in instanceof interface let new null package private protected public return static super switch
this throw true try typeof undefined var void while with yield async of get set math infinity nan float64array object array number string
symbol globalthis window document console power"""

_OURS = """p batch out check failures found expected written scale worst sign_of least largest locate pick parameters
default_parameters namedtuple real_only real_sqrt real_log real_asin real_acos real_power number number_of tests __all__
con nul prn aux com1 com2 com3 com4 lpt1 lpt2 lpt3"""

RESERVED = frozenset(" ".join((_C, _PYTHON, _MATLAB, _JULIA, _RUST, _JAVASCRIPT, _OURS)).split())
"""Words that generated code never uses as a name of its own, in lower case."""


class Identifiers:
    """Hands out identifiers that are legal in every language and collide with none handed out before."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = {t.lower() for t in taken}

    def unique(self, text: object, fallback: str = "x", longest: int = LONGEST) -> str:
        """A new identifier as close to ``text`` as safety allows."""
        stem = identifier(text, fallback, longest)
        name, k = stem, 2
        while name.lower() in self.taken:
            tail = f"_{k}"
            name, k = stem[: longest - len(tail)] + tail, k + 1
        self.taken.add(name.lower())
        return name


def identifier(text: object, fallback: str = "x", longest: int = LONGEST) -> str:
    """``text`` as an identifier: Greek letters spelled out, other characters become ``_``, reserved words get a tail."""
    spelled = "".join(_spelled(c) for c in unicodedata.normalize("NFKD", str(text)[:200]))
    name = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", spelled)).strip("_")[:longest].rstrip("_")
    if not name or not name[0].isalpha():
        name = f"{fallback}_{name}".rstrip("_")[:longest].rstrip("_")
    if _reserved(name):
        name = f"{name[: longest - 1]}_"
    return name


def _reserved(name: str) -> bool:
    """Single letters are compared as they are: MATLAB's ``i`` and ``j`` are taken, a matrix ``J`` is not."""
    return (name if len(name) == 1 else name.lower()) in RESERVED or bool(_LOCAL.fullmatch(name))


def _spelled(c: str) -> str:
    if c.isascii():
        return c
    if unicodedata.combining(c):
        return ""
    words = unicodedata.name(c, "").split()
    if words[:2] in (["GREEK", "SMALL"], ["GREEK", "CAPITAL"]) and len(words) >= 4 and words[2] == "LETTER":
        return words[3].lower() if words[1] == "SMALL" else words[3].capitalize()
    return "_"


def comment(text: object, longest: int = 100) -> str:
    """``text`` as it may stand in a comment or a string of any target language.

    Letters, digits and ``_.,:;()[]+-=`` stay, and a ``/`` between letters or digits (rad/s); the rest becomes ``_``.
    """
    plain = unicodedata.normalize("NFKD", str(text)[: 4 * longest])
    shown = re.sub(r"[^A-Za-z0-9 _.,:;()\[\]+=/-]", "_", "".join(_spelled(c) for c in plain))
    shown = re.sub(r"(?<![A-Za-z0-9])/|/(?![A-Za-z0-9])", "_", shown)
    return re.sub(r" +", " ", shown).strip()[:longest].rstrip("/")
