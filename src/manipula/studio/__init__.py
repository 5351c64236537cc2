"""The studio: a page in the browser over this package, served to this machine alone.

=================  ==============================================================================================================
``serving``        ``manipula studio``: a free port on the loopback address, a fresh key, the browser
``connections``    connections that say nothing are closed
``guard``          who may ask: host, origin, key, size; what every answer forbids the page
``app``            addresses of the server: the page, its files, verbs, runs, the socket
``opening``        the rest of the package, loaded while the page is on its way
``answers``        what needs it: verbs, files of runs, the socket on which runs are watched
``first_answers``  answers to the first questions of a page, on disk for the next studio
``verbs/``         what the page may ask for, one function per verb
``documents``      the document of the page ⇄ scenario files ⇄ scenarios; files that are opened or dropped
``first_values``   what a part begins with that is chosen in a form
``messages``       the form of every message between page and server, from which the types of the page are written
``runs``           runs by number: watched while they go, stopped, found again
``page_words``     advice for people who write Python, in the terms of the page
``pages``          robots and runs as the viewer of reports shows them
``signals``        the numbers of a run as one binary message
``robot_view``     a robot as the page draws and lists it
``wire``           JSON and arrays as they travel
=================  ==============================================================================================================

The page itself is TypeScript (``web/`` in the repository), built beside the viewer of reports when the package is installed.
"""
