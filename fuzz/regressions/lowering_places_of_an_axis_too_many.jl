function !(A)
A[]
A[[end],:]=0end