"""From a Python function to a graph of operations, and the graph computed with NumPy.

=====================  ==================================================================================================
``trace``              a function run once on traced numbers
``tracer``             the traced numbers themselves
``nodes``              making operations: equal ones are one, constants are folded
``graph``              the flat list of operations; the table of their codes
``loops``              ``repeat`` and ``until``
``tables``             piecewise polynomials, interpolation, arrays whose length is known at run time
``derivatives``        exact derivatives of what was traced
``replay``             a graph used again inside another
``arguments``          arrays of a call: checked, converted, broadcast
``interpreter``        a graph computed operation by operation
=====================  ==================================================================================================
"""
