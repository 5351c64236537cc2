"""What a thing is made of: our own parts and plain data, which are known by their value, or user code, of which nothing is.

=============  ==========================================================
``parts``      what a thing is made of, as bytes
``classes``    which classes and functions are this package's own
``constants``  constants of this package, by value
``package``    has anybody replaced a part of this package while it runs?
``watched``    is a thing still made of the very same objects?
``versions``   has a dictionary changed since it was last looked at?
=============  ==========================================================
"""

from manipula.identity.constants import constants, hold
from manipula.identity.package import is_untouched
from manipula.identity.parts import identity, is_own
from manipula.identity.watched import KeptAnswers

__all__ = ["KeptAnswers", "constants", "hold", "identity", "is_own", "is_untouched"]
