# An antenna over a conducting plane, by finite differences in time: a mode of a body of revolution on a grid of radii `i` and heights
# `j`, the structure of the code in Y. Barigou's report. Row `i = 1` is the axis, where electric fields stay 0, as all fields do
# at `j = 1` and on the outer rim. `k` has the twenty coefficients of a cell. The outer `layers` cells are a perfectly matched layer: each
# of twelve terms has a memory `ψ` there, with two coefficients more (18 variables and 44 coefficients a cell in all). The antenna is
# fed in `feed` cells. For the far field, the fields of row `jd` are summed for each of `nf` frequencies, times cosines and sines from `wave`.
#! with space((Er, Hr), t, (j, i), (8, 8))
#! with time_skew(Er, t, (j, i), 2, (8, 8))
#! with overlapped(Er, t, (j, i), 2, (8, 8))
#! gpu grid_sync((Er, Hr), t, (j, i), (8, 8))
#! gpu time_skew(Er, t, (j, i), 2, (8, 8))
#! gpu hexagonal((Er, Hr), t, (j, i), 3, (3, 8))
#! gpu overlapped(Er, t, (j, i), 2, (8, 8))
#! run nr=17 nz=13 steps=5 layers=4 feed=3 jd=5 nf=2
#! run nr=12 nz=21 steps=3 layers=9 feed=2 jd=7 nf=1
#! own nr=37 nz=29 steps=9 layers=7 feed=4 jd=11 nf=3
@tessella function fdtd_antenna!(er::Matrix{Float64}, ep::Matrix{Float64}, ez::Matrix{Float64}, hr::Matrix{Float64}, hp::Matrix{Float64},
                                 hz::Matrix{Float64}, ψ::Array{Float64,3}, k::Array{Float64,3}, b::Array{Float64,3}, c::Array{Float64,3},
                                 gap::Vector{Float64}, wave::Array{Float64,3}, dft::Array{Float64,4}, layers::Int, feed::Int, jd::Int)
    nr, nz = size(er)
    ri, zj = nr - layers, nz - layers
    nf, steps = size(wave, 2), length(gap)
    for t in 1:steps
        # Electric fields, from the magnetic ones half a step before.
        for j in 2:nz-1, i in 2:nr-1
            if i <= ri && j <= zj
                @comp Er er[i, j] = k[i, j, 1] * er[i, j] + k[i, j, 2] * hz[i, j] - k[i, j, 3] * (hp[i, j] - hp[i, j-1])
                @comp Ep ep[i, j] = k[i, j, 4] * ep[i, j] + k[i, j, 5] * (hr[i, j] - hr[i, j-1]) - k[i, j, 6] * (hz[i, j] - hz[i-1, j])
                @comp Ez ez[i, j] = k[i, j, 7] * ez[i, j] + k[i, j, 8] * hp[i, j] - k[i, j, 9] * hp[i-1, j] - k[i, j, 10] * hr[i, j]
            else
                @comp P1 ψ[i, j, 1] = b[i, j, 1] * ψ[i, j, 1] + c[i, j, 1] * hz[i, j]
                @comp P2 ψ[i, j, 2] = b[i, j, 2] * ψ[i, j, 2] + c[i, j, 2] * (hp[i, j] - hp[i, j-1])
                @comp ErP er[i, j] = k[i, j, 1] * er[i, j] + k[i, j, 2] * hz[i, j] - k[i, j, 3] * (hp[i, j] - hp[i, j-1]) + ψ[i, j, 1] - ψ[i, j, 2]
                @comp P3 ψ[i, j, 3] = b[i, j, 3] * ψ[i, j, 3] + c[i, j, 3] * (hr[i, j] - hr[i, j-1])
                @comp P4 ψ[i, j, 4] = b[i, j, 4] * ψ[i, j, 4] + c[i, j, 4] * (hz[i, j] - hz[i-1, j])
                @comp EpP ep[i, j] = k[i, j, 4] * ep[i, j] + k[i, j, 5] * (hr[i, j] - hr[i, j-1]) - k[i, j, 6] * (hz[i, j] - hz[i-1, j]) + ψ[i, j, 3] - ψ[i, j, 4]
                @comp P5 ψ[i, j, 5] = b[i, j, 5] * ψ[i, j, 5] + c[i, j, 5] * (hp[i, j] - hp[i-1, j])
                @comp P6 ψ[i, j, 6] = b[i, j, 6] * ψ[i, j, 6] + c[i, j, 6] * hr[i, j]
                @comp EzP ez[i, j] = k[i, j, 7] * ez[i, j] + k[i, j, 8] * hp[i, j] - k[i, j, 9] * hp[i-1, j] - k[i, j, 10] * hr[i, j] + ψ[i, j, 5] - ψ[i, j, 6]
            end
        end
        for i in 2:feed
            @comp X ez[i, 2] = ez[i, 2] + gap[t]
        end
        # Magnetic fields, from the electric ones.
        for j in 2:nz-1
            @comp A hr[1, j] = k[1, j, 11] * hr[1, j] - k[1, j, 13] * ez[2, j]
        end
        for j in 2:nz-1, i in 2:nr-1
            if i <= ri && j <= zj
                @comp Hr hr[i, j] = k[i, j, 11] * hr[i, j] + k[i, j, 12] * (ep[i, j+1] - ep[i, j]) - k[i, j, 13] * ez[i, j]
                @comp Hp hp[i, j] = k[i, j, 14] * hp[i, j] + k[i, j, 15] * (ez[i+1, j] - ez[i, j]) - k[i, j, 16] * (er[i, j+1] - er[i, j])
                @comp Hz hz[i, j] = k[i, j, 17] * hz[i, j] + k[i, j, 18] * er[i, j] - k[i, j, 19] * ep[i+1, j] + k[i, j, 20] * ep[i, j]
            else
                @comp P7 ψ[i, j, 7] = b[i, j, 7] * ψ[i, j, 7] + c[i, j, 7] * (ep[i, j+1] - ep[i, j])
                @comp P8 ψ[i, j, 8] = b[i, j, 8] * ψ[i, j, 8] + c[i, j, 8] * ez[i, j]
                @comp HrP hr[i, j] = k[i, j, 11] * hr[i, j] + k[i, j, 12] * (ep[i, j+1] - ep[i, j]) - k[i, j, 13] * ez[i, j] + ψ[i, j, 7] - ψ[i, j, 8]
                @comp P9 ψ[i, j, 9] = b[i, j, 9] * ψ[i, j, 9] + c[i, j, 9] * (ez[i+1, j] - ez[i, j])
                @comp P10 ψ[i, j, 10] = b[i, j, 10] * ψ[i, j, 10] + c[i, j, 10] * (er[i, j+1] - er[i, j])
                @comp HpP hp[i, j] = k[i, j, 14] * hp[i, j] + k[i, j, 15] * (ez[i+1, j] - ez[i, j]) - k[i, j, 16] * (er[i, j+1] - er[i, j]) + ψ[i, j, 9] - ψ[i, j, 10]
                @comp P11 ψ[i, j, 11] = b[i, j, 11] * ψ[i, j, 11] + c[i, j, 11] * er[i, j]
                @comp P12 ψ[i, j, 12] = b[i, j, 12] * ψ[i, j, 12] + c[i, j, 12] * (ep[i+1, j] - ep[i, j])
                @comp HzP hz[i, j] = k[i, j, 17] * hz[i, j] + k[i, j, 18] * er[i, j] - k[i, j, 19] * ep[i+1, j] + k[i, j, 20] * ep[i, j] + ψ[i, j, 11] - ψ[i, j, 12]
            end
        end
        for f in 1:nf, p in 1:2, i in 2:ri
            @comp D1 dft[i, p, f, 1] = dft[i, p, f, 1] + er[i, jd] * wave[p, f, t]
            @comp D2 dft[i, p, f, 2] = dft[i, p, f, 2] + ep[i, jd] * wave[p, f, t]
            @comp D3 dft[i, p, f, 3] = dft[i, p, f, 3] + ez[i, jd] * wave[p, f, t]
            @comp D4 dft[i, p, f, 4] = dft[i, p, f, 4] + hr[i, jd] * wave[p, f, t]
            @comp D5 dft[i, p, f, 5] = dft[i, p, f, 5] + hp[i, jd] * wave[p, f, t]
            @comp D6 dft[i, p, f, 6] = dft[i, p, f, 6] + hz[i, jd] * wave[p, f, t]
        end
    end
end
