package onnx

// FindLibraryIn is findLibrary.
var FindLibraryIn = findLibrary
