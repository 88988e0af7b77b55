/* What all kernels share. The kernels are those in tests/polybench, statement for statement and loop for loop, as a C
   programmer would write them: arrays keep Julia's layout, so A[i, j] reads A[j][i], and indices start at 0.

   The bench defines REAL, the elements' type, and EXTENT1, EXTENT2, ..., the extents in the order of the registry's
   `large`. They are constants of the compilation, and no two arrays overlap: PolyBench gives compilers the same help.
   Constants such as 0.5 are double whatever REAL is, as they are in Julia. */
#include <tgmath.h>

#ifndef REAL
#define REAL double
#endif
