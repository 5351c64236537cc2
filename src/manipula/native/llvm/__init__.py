"""From a lowered graph to LLVM text, object code and addresses.

=====================  ==================================================================================================
``compiler``           a graph as one module: the entries for one state and for a batch
``graph_text``         straight-line arithmetic, one state or W side by side
``blocks``             lists of operations with their loops
``turns``                what a loop computes ahead, all turns side by side
``segments``           long graphs cut into several functions
``math_calls``         calls of the elementary functions, several arguments in one
``lookups``            tables: finding a piece, reading a row
``memory``             rows of doubles in memory ⇄ values side by side
``target``             the processor that code is made for, and how long functions may be
``objects``            module → object code → addresses, by LLVM
``images``             object code laid out once, and mapped without LLVM
=====================  ==================================================================================================
"""
