"""The gallery has a picture of everything it declares, in every size and scheme, and no other; its page shows them all."""

from __future__ import annotations

import importlib.util
import re
import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_BYTES = 4_000_000  # of all pictures


def _declared():
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "scripts" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


gallery = _declared()


def test_every_panel_of_the_page_has_pictures() -> None:
    source = (ROOT / "web" / "src" / "studio" / "main.ts").read_text(encoding="utf-8")
    found = re.search(r"const PANELS: readonly Panel\[\] = \[(.*?)\];", source)
    assert found is not None
    assert {name.strip(' "') for name in found[1].split(",")} == {s.panel for s in gallery.SCENES if s.panel}


def test_pictures_are_those_that_are_declared() -> None:
    declared = {path for scene in gallery.SCENES for path in scene.files()}
    assert set(gallery.FOLDER.iterdir()) == declared
    assert sum(path.stat().st_size for path in declared) < MOST_BYTES


@pytest.mark.parametrize("scene", gallery.SCENES, ids=lambda scene: scene.name)
def test_pictures_have_the_shape_of_their_screen(scene) -> None:
    for size, (width, height) in gallery.SIZES.items():
        for scheme in gallery.SCHEMES:
            head = (gallery.FOLDER / scene.file(size, scheme)).read_bytes()[:24]
            wide, high = struct.unpack(">II", head[16:24])
            assert head[:8] == b"\x89PNG\r\n\x1a\n"
            assert (wide * height, wide >= width) == (high * width, True)


def test_the_page_shows_what_is_declared() -> None:
    text = gallery.PAGE.read_text(encoding="utf-8")
    assert text == gallery.page_text(), "scripts/docs-screenshots --only gallery writes it anew"
    shown = re.findall(r'<img src="([^"]+)"', text)
    assert sorted(shown) == sorted(f"images/gallery/{path.name}" for path in gallery.FOLDER.iterdir())
    assert all(re.search(r'alt="[^"]+"', line) for line in text.splitlines() if "<img" in line)
