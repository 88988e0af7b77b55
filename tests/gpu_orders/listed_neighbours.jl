# Forces of neighbours that lists name, those within reach alone.
@tessella function listed_neighbours!(f::Matrix{Float32}, x::Matrix{Float32}, first::Vector{Int32}, list::Vector{Int32}, reach::Float32)
    for i in 1:length(first)-1
        fx = 0f0
        fy = 0f0
        for k in first[i]:first[i+1]-1
            dx = x[1, list[k]] - x[1, i]
            dy = x[2, list[k]] - x[2, i]
            r = dx * dx + dy * dy
            if r < reach
                fx += dx * (reach - r)
                fy += dy * (reach - r)
            end
        end
        f[1, i] = fx
        f[2, i] = fy
    end
end
#! sizes f=2,n x=2,n first=r list=z reach=n
#! climb first
#! within list=n
#! run n=1 r=2 z=1
#! run n=150 r=151 z=225
