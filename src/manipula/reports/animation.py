"""The arm as a moving picture: GIF always, MP4 when ffmpeg is installed. One second of film is one second of motion."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from manipula.errors import BudgetError, CompileError, DescriptionError, unknown_name
from manipula.reports.plots.tip import draw_arm, frame_axes, target_of, view_of
from manipula.reports.skeleton import skeleton
from manipula.reports.source import finite_until, is_batch, needed_robot
from manipula.reports.theme import MUTED, TARGET, TRACE, new_figure, plain, themed
from manipula.simulation.result import Result
from manipula.simulation.store import whole_file

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
    target = Path(path)
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
    writer = _writer(suffix, fps)
    times = np.linspace(float(t[0]), float(t[-1]), count)
    q = np.stack([np.interp(times, t, column) for column in result.arrays["q"][:last].T], axis=-1)
    with themed(), whole_file(target) as part:
        _film(result, times, q, writer, part, dpi)
    return target


def _writer(suffix: str, fps: int) -> Any:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if suffix == ".gif":
        return PillowWriter(fps=fps)
    if shutil.which("ffmpeg") is None:
        raise CompileError("MP4 needs the program ffmpeg, which is not installed; .gif works without it.")
    return FFMpegWriter(fps=fps, codec="h264", extra_args=["-pix_fmt", "yuv420p"])


def _film(result: Result, times: np.ndarray, q: np.ndarray, writer: Any, part: Path, dpi: int) -> None:
    bones = skeleton(needed_robot(result), q)
    flat = bones.plane() is not None
    figure = new_figure(6.4, 4.8)
    ax = figure.add_subplot(**({} if flat else {"projection": "3d"}))
    view, target = view_of(bones, ax), target_of(result)
    if target is not None:
        ax.plot(*view(target), color=TARGET, linestyle=(0, (4, 3)), linewidth=1.2)
    path = None if bones.tip is None else bones.points[:, bones.tip]
    if path is not None:
        ax.plot(*view(path), color=TRACE, linewidth=1.0, alpha=0.2)
    frame_axes(ax, bones, target)
    ax.autoscale(False)
    title = plain(result.meta.get("name", result.meta.get("robot", "")), 50)
    ax.set_title(title, loc="left")
    clock = figure.text(0.985, 0.015, "", ha="right", va="bottom", color=MUTED, fontsize=9, in_layout=False)
    figure.canvas.draw()
    figure.set_layout_engine("none")  # the first layout holds for the whole film
    with writer.saving(figure, str(part), dpi):
        for k, t in enumerate(times):
            moving = draw_arm(ax, bones, k, view)
            if path is not None:
                moving += ax.plot(*view(path[: k + 1]), color=TRACE, linewidth=1.6, zorder=5)
            clock.set_text(f"t = {t:.2f} s")
            writer.grab_frame()
            for artist in moving:
                artist.remove()
