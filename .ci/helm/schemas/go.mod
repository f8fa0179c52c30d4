// Modules that carry schemas of Kubernetes and KEDA. Their files are read, none of their code is compiled.
module axiommind/schemas

go 1.26.0

require (
	github.com/kedacore/keda/v2 v2.21.0
	sigs.k8s.io/kubectl-validate v0.0.4
)
