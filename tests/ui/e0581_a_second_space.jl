#! model parallelograms
space 16 0; 0 16
dependence 1 0
space 32 0; 0 32
level 18e-6 64
