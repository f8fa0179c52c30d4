package e5

const libcName = "/usr/lib/libSystem.B.dylib"
