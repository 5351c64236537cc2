"""The version, in a module of its own so that any room may ask for it; and when this process began to use it."""

import time

__version__ = "0.1.0"
started = time.time()
"""Files of this package that changed later are not what runs here. No constant: it differs from process to process."""
