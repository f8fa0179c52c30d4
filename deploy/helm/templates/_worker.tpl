{{/* The file of settings of a group. Arguments: root, worker. */}}
{{- define "axiommind.workerSettings" -}}
{{- $values := .root.Values -}}
{{- $own := dict "stop-timeout" (printf "%ds" (int64 $values.stopTimeoutSeconds)) -}}
{{- if .worker.taskQueues -}}{{- $_ := set $own "task-queue" .worker.taskQueues -}}{{- end -}}
{{- if and $values.memory.url $values.memory.existingClaim -}}{{- fail "memory: give url or existingClaim, not both" -}}{{- end -}}
{{- if $values.memory.existingClaim -}}
{{- $_ := set $own "memory-root" "/var/lib/axiommind-memory" -}}
{{- else -}}
{{- $_ := set $own "memory-root" (required "memory: give url or existingClaim" $values.memory.url) -}}
{{- end -}}
{{- if $values.metrics.enabled -}}{{- $_ := set $own "metrics-address" (printf ":%d" (int64 $values.metrics.port)) -}}{{- end -}}
{{- if $values.versioning.buildId -}}
{{- $_ := set $own "build-id" $values.versioning.buildId -}}
{{- $_ := set $own "deployment" $values.versioning.deployment -}}
{{- end -}}
{{- include "axiommind.settings" (dict "root" .root "more" .worker.settings "own" $own) -}}
{{- end }}

{{/* Fails if no group serves a task queue. */}}
{{- define "axiommind.requireQueues" -}}
{{- $served := list -}}
{{- range $name, $_ := .Values.workers -}}
{{- $worker := include "axiommind.worker" (dict "root" $ "name" $name) | fromJson -}}
{{- if $worker.enabled -}}
{{- $served = concat $served (default (list "axiommind" "axiommind-model" "axiommind-vector" "axiommind-memory") $worker.taskQueues) -}}
{{- if and (has "axiommind-erase" $worker.taskQueues) (not $.Values.eraser.dsn) -}}
{{- fail (printf "workers.%s: axiommind-erase needs eraser.dsn" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $queue := list "axiommind" "axiommind-model" "axiommind-vector" "axiommind-memory" -}}
{{- if not (has $queue $served) -}}{{- fail (printf "workers: no group serves the task queue %s" $queue) -}}{{- end -}}
{{- end -}}
{{- end }}
