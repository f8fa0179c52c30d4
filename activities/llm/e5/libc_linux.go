package e5

const libcName = "libc.so.6"
