"""Calling machine code from Python without a C compiler: a NumPy gufunc, and a fast entry for one state.

The binary interface between the compiler and everything that calls its code (all pointers 64-bit, C calling convention):

``void scalar(const double *const *inputs, double *const *outputs, double *workspace)``
    One evaluation. ``inputs[i]`` points at the i-th argument and ``outputs[k]`` at the k-th result, each a C-contiguous
    block of its core shape (a core shape ``()`` is one double). Inputs and outputs never overlap.
    ``workspace`` is scratch memory of the size the compiler states (64-byte aligned, contents undefined), or NULL when
    the kernel needs none; a kernel that needs none may leave the argument out of its own signature.

``void batch(const double *const *inputs, const int64_t *input_strides,``
``           double *const *outputs, const int64_t *output_strides, int64_t count, double *workspace)``
    ``count`` evaluations. Row ``r`` of argument ``i`` starts at ``inputs[i] + r * input_strides[i]``: strides count
    doubles, 0 repeats one row for the whole batch. Each row itself is C-contiguous. The bits of row ``r`` do not depend on
    ``count``, nor on where in the batch the row stands.

Neither touches Python, so both may run without the GIL.
"""
