#! model parallelograms
space 16 0; 0 16
dependense 1 0
level 18e-6 64
