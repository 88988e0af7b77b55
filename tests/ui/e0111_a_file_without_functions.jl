# Constants of the model
const DX = 0.01
const DT = 1.0e-4
