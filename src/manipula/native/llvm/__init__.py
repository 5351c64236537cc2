"""LLVM: text of functions, modules, object code."""
