"""Elementary functions as LLVM code of our own: the same bits alone and side by side.

=========================  ==============================================================================================
``functions``              which there are, and their definitions in a module
``library``                functions of the C library behind them
``lanes``                  arithmetic on W doubles side by side
``trigonometry``           sin, cos, tan
``inverse_trigonometry``   asin, acos, atan, atan2
``exponentials``           exp, log, sinh, cosh, tanh, pow
=========================  ==============================================================================================
"""
