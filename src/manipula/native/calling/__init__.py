"""Calling machine code from Python.

=====================  ==================================================================================================
``kernel``             ``kernel(*arrays)``: one state or any number of them; what picks the way below
``fast_entry``         a built-in function for one state, and its self-test
``fast_entry_code``    its machine code, the same for all kernels
``gufunc``             a NumPy generalised ufunc for batches
``threads``            batches on several cores, and runs that Ctrl-C can end
``watched_calls``      long loops seen from outside while they run
``signature``          names and order of arguments
``kernel_cache``       kernels found again: in this process, and across processes without being traced
``rows_call``          kernels on many rows without ceremony
=====================  ==================================================================================================
"""
