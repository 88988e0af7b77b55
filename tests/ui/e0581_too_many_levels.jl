#! model parallelograms
space 16 0; 0 16
dependence 1 0
level 1e-6 2
level 1e-6 2
level 1e-6 2
level 1e-6 2
level 1e-6 2
