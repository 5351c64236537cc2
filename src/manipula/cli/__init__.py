"""The command line: one file per command; each imports what it needs when it runs.

=================  ==========================================================================
``app``            all commands in one place
``doctor``         is a robot model physical?
``certify``        how far all routes to the equations of a robot differ
``doctor_folder``  every robot file of a folder as a table
``convert``        a description in another format
``catalog``        the robots that come with the package
``equations``      the equations of motion
``export``         functions of a robot as source code
``calibrate``      a robot's geometry from measured poses
``measurements``   what both share: columns, units, what is written
``identify``       a robot from a log of its motion
``ik``             joint positions that bring the tip to a target
``run``            run a scenario
``sweep``          every run of a study
``tune``           the numbers of a study that make a column small
``cluster``        a Dask cluster on this machine
``check``          can the machine do it?
``plot``           figures and films of a result
``report``         one HTML file about a result
``library``        programmed motions under a name
``paper``          published papers run again
``parts``          the parts that files may name, with their fields
``schema``         JSON Schema of robot and scenario files
``cache``          the machine code on disk
``studio``         the studio in the browser
``bench``          our times beside other libraries'
``terminal``       sentences and tables at any width, in any encoding
``explain``        mistakes as one message and exit code 2
``live``           progress, and an end when the user asks for one
``outputs``        the files of a run, moved into place together
``robot_options``  the tip, locked joints, chains: options of every command that loads a robot
=================  ==========================================================================
"""

from __future__ import annotations


def main() -> None:
    """Entry point of the ``manipula`` command; signs that the terminal cannot show are spelt out."""
    import sys

    from manipula.cli import terminal as terminal  # registers the spelling of signs
    from manipula.cli.app import app_for

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="manipula.spell")  # pyright: ignore[reportAttributeAccessIssue]

    app_for(sys.argv[1:])(prog_name="manipula")


__all__ = ["main"]
