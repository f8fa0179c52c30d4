{{- define "axiommind.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 42 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 42 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 42 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "axiommind.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "axiommind.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "axiommind.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "axiommind.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{ include "axiommind.selector" . }}
{{- end }}

{{- define "axiommind.image" -}}
{{- $image := required "image.repository: name the image" .Values.image.repository -}}
{{- $image = printf "%s:%s" $image (default .Chart.AppVersion .Values.image.tag) -}}
{{- if .Values.image.digest -}}{{- $image = printf "%s@%s" $image .Values.image.digest -}}{{- end -}}
{{- $image -}}
{{- end }}

{{/* A string that Kubernetes does not expand: it replaces $(NAME) in arguments. */}}
{{- define "axiommind.literal" -}}
{{- replace "$" "$$" (toString .) | toJson -}}
{{- end }}

{{/* A value of the file of settings. Helm reads whole numbers as floats, and would write large ones as 1e+06. */}}
{{- define "axiommind.value" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{ printf "%.0f" . | toJson }}{{- else -}}{{ toString . | toJson }}{{- end -}}
{{- end }}

{{/* The defaults with the values of a group. Arguments: root, name. */}}
{{- define "axiommind.worker" -}}
{{- mustMergeOverwrite (deepCopy .root.Values.workerDefaults) (deepCopy (get .root.Values.workers .name)) | toJson -}}
{{- end }}

{{/* The file of settings. Arguments: root, more (settings of the group), own (settings that the chart makes). */}}
{{- define "axiommind.settings" -}}
{{- $all := mustMergeOverwrite (deepCopy .root.Values.settings) (deepCopy .more) -}}
{{- $made := list "config" "task-queue" "stop-timeout" "memory-root" "metrics-address" "build-id" "deployment" "eraser-dsn" "summary-webhook" "payload-key-file" "raw-key-file" "tls-ca" "temporal-tls-cert" "temporal-tls-key" -}}
{{- range $name := keys $all | sortAlpha -}}
{{- if has $name $made -}}{{- fail (printf "settings: %s is set by another value of the chart" $name) -}}{{- end -}}
{{- end -}}
{{- range $name := list "temporal-address" "weaviate-url" -}}
{{- if not (get $all $name) -}}{{- fail (printf "settings: give %s" $name) -}}{{- end -}}
{{- end -}}
{{- if not (or (get $all "clickhouse-dsn") (hasKey .root.Values.secretEnv "AXIOMMIND_CLICKHOUSE_DSN")) -}}
{{- fail "secretEnv: name the Secret of AXIOMMIND_CLICKHOUSE_DSN" -}}
{{- end -}}
{{- range $name, $_ := .root.Values.files -}}
{{- $_ := set $all $name (include "axiommind.file" $name) -}}
{{- end -}}
{{- $all = mustMergeOverwrite $all (deepCopy .own) -}}
{{- range $name := keys $all | sortAlpha -}}
{{- $value := get $all $name -}}
{{- if kindIs "slice" $value }}
{{ $name }}:
{{- range $value }}
  - {{ include "axiommind.value" . }}
{{- end -}}
{{- else if not (kindIs "invalid" $value) }}
{{ $name }}: {{ include "axiommind.value" $value }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Key files are copied: see keyFiles. */}}
{{- define "axiommind.file" -}}
{{- if hasSuffix "-key-file" . -}}/run/axiommind/keys/{{ . }}{{- else -}}/etc/axiommind/files/{{ . }}{{- end -}}
{{- end }}

{{- define "axiommind.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.runAs.user | int64 }}
runAsGroup: {{ .Values.runAs.group | int64 }}
fsGroup: {{ .Values.runAs.group | int64 }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "axiommind.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
