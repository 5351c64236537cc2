"""The arm as a moving picture: GIF always, MP4 when ffmpeg is installed. One second of film is one second of motion."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np

from manipula.errors import BudgetError, CompileError, DescriptionError, printable, unknown_name
from manipula.formats.whole_file import file_path, whole_file
from manipula.reports.plots.tip import draw_arm, frame_axes, target_of, view_of
from manipula.reports.skeleton import skeleton
from manipula.reports.source import finite_until, is_batch, needed_robot
from manipula.reports.theme import MUTED, TARGET, TRACE, new_figure, plain, themed
from manipula.simulation.result import Result

FORMATS = (".gif", ".mp4")
MOST_FRAMES = 3000


def animate(result: Result, path: str | os.PathLike[str], *, speed: float = 1.0, fps: int = 25, dpi: int = 100) -> Path:
    """Write the arm's motion: links, joints and the trace of the tip.

    Args:
        path: ``.gif`` or ``.mp4`` (needs ffmpeg).
        speed: seconds of motion in one second of film; 0.1 is slow motion.
        fps: pictures a second; a GIF keeps time exactly at 10, 20, 25 and 50.

    Raises:
        CompileError: for MP4 without ffmpeg.
        BudgetError: for more than 3000 pictures; a higher speed or fewer pictures a second help.
    """
    target = file_path(path)
    suffix = target.suffix.lower()
    if suffix not in FORMATS:
        raise unknown_name("format of animations", target.suffix, FORMATS, file=str(path))
    if is_batch(result):
        raise DescriptionError("A batch has many motions; choose one: result.run(0).")
    for name, value in (("speed", speed), ("fps", fps)):
        if not np.isfinite(value) or value <= 0:
            raise DescriptionError(f"A finite number greater than 0 is needed, found {value}.", field=name)
    last = finite_until(result)
    if last < 2:
        raise DescriptionError("The result has fewer than two finite samples, so nothing moves.")
    t = result.t[:last]
    count = max(2, round(float(t[-1] - t[0]) / speed * fps) + 1)
    if count > MOST_FRAMES:
        raise BudgetError(
            f"{count} pictures are needed; at most {MOST_FRAMES} are made. Raise speed or lower fps.", field="speed"
        )
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise CompileError("MP4 needs the program ffmpeg, which is not installed; .gif works without it.")
    times = np.linspace(float(t[0]), float(t[-1]), count)
    q = np.stack([np.interp(times, t, column) for column in result.arrays["q"][:last].T], axis=-1)
    with themed(), whole_file(target) as part:
        pictures = _pictures(result, times, q, dpi)
        if suffix == ".gif":
            _write_gif(pictures, part, fps)
        else:
            _write_mp4(pictures, part, fps)
    return target


def _pictures(result: Result, times: np.ndarray, q: np.ndarray, dpi: int) -> Iterator[np.ndarray]:
    """Pictures (height, width, 3): what stands still is drawn once, what moves is drawn over it."""
    bones = skeleton(needed_robot(result), q)
    flat = bones.plane() is not None
    figure = new_figure(6.4, 4.8)
    figure.set_dpi(dpi)
    ax = figure.add_subplot(**({} if flat else {"projection": "3d"}))
    view, target = view_of(bones, ax), target_of(result)
    if target is not None:
        ax.plot(*view(target), color=TARGET, linestyle=(0, (4, 3)), linewidth=1.2)
    path = None if bones.tip is None else bones.points[:, bones.tip]
    if path is not None:
        ax.plot(*view(path), color=TRACE, linewidth=1.0, alpha=0.2)
    title = plain(result.meta.get("name", result.meta.get("robot", "")), 50)
    ax.set_title(title, loc="left")
    frame_axes(ax, bones, target)
    clock = figure.text(0.985, 0.015, "", ha="right", va="bottom", color=MUTED, fontsize=9, in_layout=False)
    canvas = figure.canvas
    canvas.draw()
    ax.autoscale(False)
    background = canvas.copy_from_bbox(figure.bbox)
    for k, t in enumerate(times):
        canvas.restore_region(background)
        moving = draw_arm(ax, bones, k, view)
        if path is not None:
            moving += ax.plot(*view(path[: k + 1]), color=TRACE, linewidth=1.6, zorder=5)
        clock.set_text(f"t = {t:.2f} s")
        for artist in (*moving, clock):
            figure.draw_artist(artist)
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()
        for artist in moving:
            artist.remove()


def _write_gif(pictures: Iterator[np.ndarray], part: Path, fps: int) -> None:
    from PIL import Image

    frames = [Image.fromarray(p).quantize(64, dither=Image.Dither.NONE) for p in pictures]
    frames[0].save(part, save_all=True, append_images=frames[1:], duration=round(1000 / fps), loop=0, optimize=False)


def _write_mp4(pictures: Iterator[np.ndarray], part: Path, fps: int) -> None:
    first = next(pictures)
    height, width = (size - size % 2 for size in first.shape[:2])  # the codec wants even numbers
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps),
               "-i", "-", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(part)]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as film:
        assert film.stdin is not None
        assert film.stderr is not None
        try:
            for picture in chain((first,), pictures):
                film.stdin.write(np.ascontiguousarray(picture[:height, :width]).tobytes())
        except BrokenPipeError:
            pass  # ffmpeg gave up; it says why
        with suppress(BrokenPipeError):
            film.stdin.close()
        said = film.stderr.read().decode(errors="replace")
    if film.returncode != 0:
        raise CompileError(f"ffmpeg could not write the film: {printable(said.strip(), 300)}.")
