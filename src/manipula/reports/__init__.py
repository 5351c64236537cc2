"""What a run looks like: figures, films, one HTML file. Everything here reads a result and never simulates.

================  =================================================================================
``report``        ``write_report(result, path)``: one HTML file that opens offline; several results are compared
``comparison``    several runs beside each other in words and numbers
``identification``  one page about an identification
``calibration``   one page about a calibration
``notebook``      what a notebook shows of a robot, a result, equations, verdicts
``studies/``      pages and figures of studies and tunings
``figures``       ``plot(result, kind)`` on axes, on a new figure, or into a file
``animation``     ``animate(result, path)``: the arm as GIF or MP4
``progress_bar``  ``progress_bar()``: how far long work is, in a notebook or a terminal
``page_types``    the form of what the viewer reads, as types
``plots/``        the kinds of plots, one family per file
``key_numbers``   the numbers at the top of a report
``tables``        status, robot, doctor and settings in words and numbers
``formulas``      the equations of motion inside a report
``scene``         ``scene(robot, q)``: what a robot looks like, as coloured triangles
``tessellation``  simple bodies as triangles; meshes of fewer triangles
``skeleton``      where the parts of an arm are, sample by sample
``charts``        the charts of a page as data
``mechanism``     a robot as the page draws it
``content``       what the viewer of the page is fed with
``live``          the closed loop of a run as JavaScript, for a page that computes it
``packed``        numbers of a page as compact text
``viewer``        the viewer that was built from ``web/`` of the sources
``pictures``      plots as still pictures
``page``          pieces of an HTML page, every text escaped
``source``        what a report reads from a result
``theme``         colours and type
``web/``          style sheet of the page; ``built/`` is made from TypeScript
================  =================================================================================
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manipula.reports.report import write_report as write_report


def __getattr__(name: str) -> Any:
    """``write_report`` is fetched when it is first used; plotting is not imported before."""
    if name == "write_report":
        from manipula.reports.report import write_report

        return write_report
    raise AttributeError(f"module 'manipula.reports' has no attribute '{name}'")
