#! model parallelograms
space 16 0; 0 16
dependence 1 -1
dependence 1 1
level 18e-6 1
scheme Square
