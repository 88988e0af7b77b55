# Float32: 8 x 8 results a thread as today, with two terms of the sums written out instead of four.
@schedule gemm_fast! begin
@block y for j0 = fld(j - 1, 128)
@block x for i0 = fld(i - 1, 128)
for k0 = fld(k - 1, 16)
@thread y for j10 = fld(mod(j - 1, 128), 8)
@thread x for i10 = mod(i - 1, 16)
@unroll 2 for k1 = mod(k - 1, 16)
@unroll 8 for j11 = mod(j - 1, 128) - 8*fld(mod(j - 1, 128), 8)
@unroll 8 for i11 = fld(mod(i - 1, 128), 16)
S0
end
end
end
end
end
end
end
end
cache_register(C, S0, i0)
cache_shared(A, S0, k0)
cache_shared(B, S0, k0)
end
