{{/* The variables of a container. Arguments: root, dsn (a Secret in place of that of the workers, or empty), eraser,
     component: the setup needs no ClickHouse. */}}
{{- define "axiommind.env" -}}
- name: AXIOMMIND_CONFIG
  value: /etc/axiommind/settings/settings.yaml
- name: HOME
  value: /var/lib/axiommind
- name: XDG_STATE_HOME
  value: /var/lib/axiommind/state
{{- $secrets := deepCopy .root.Values.secretEnv -}}
{{- if .dsn -}}{{- $_ := set $secrets "AXIOMMIND_CLICKHOUSE_DSN" .dsn -}}{{- end -}}
{{- if .eraser -}}{{- $_ := set $secrets "AXIOMMIND_ERASER_DSN" .eraser -}}{{- end -}}
{{- if eq .component "setup" -}}{{- $_ := unset $secrets "AXIOMMIND_CLICKHOUSE_DSN" -}}{{- end -}}
{{- range $name := keys $secrets | sortAlpha }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ (get $secrets $name).name | quote }}
      key: {{ (get $secrets $name).key | quote }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "axiommind.mounts" -}}
- name: settings
  mountPath: /etc/axiommind/settings
  readOnly: true
- name: state
  mountPath: /var/lib/axiommind
{{- if .files }}
- name: files
  mountPath: /etc/axiommind/files
  readOnly: true
{{- end }}
{{- if .keys }}
- name: keys
  mountPath: /run/axiommind/keys
  readOnly: true
{{- end }}
{{- if .root.Values.memory.existingClaim }}
- name: memory
  mountPath: /var/lib/axiommind-memory
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The Secrets of key files, or of other files, by the name of the file. Arguments: root, keys, token. */}}
{{- define "axiommind.fileSecrets" -}}
{{- $found := dict -}}
{{- $keys := .keys -}}
{{- range $name, $secret := .root.Values.files -}}
{{- if eq $keys (hasSuffix "-key-file" $name) -}}{{- $_ := set $found $name $secret -}}{{- end -}}
{{- end -}}
{{- if and $keys .token -}}{{- $_ := set $found "token" .token -}}{{- end -}}
{{- toJson $found -}}
{{- end }}

{{- define "axiommind.projected" -}}
projected:
  defaultMode: 0440
  sources:
    {{- range $name, $secret := . }}
    - secret:
        name: {{ $secret.name | quote }}
        items:
          - key: {{ $secret.key | quote }}
            path: {{ $name }}
    {{- end }}
{{- end }}

{{/* A pod. Arguments: root, component, settings (name of the ConfigMap), container (its first lines), dsn, eraser, token,
     stateClaim, scheduling, account, grace. */}}
{{- define "axiommind.podSpec" -}}
{{- $files := include "axiommind.fileSecrets" (dict "root" .root "keys" false "token" nil) | fromJson -}}
{{- $keys := include "axiommind.fileSecrets" (dict "root" .root "keys" true "token" .token) | fromJson -}}
serviceAccountName: {{ .account | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
terminationGracePeriodSeconds: {{ .grace }}
securityContext:
  {{- include "axiommind.podSecurity" .root | nindent 2 }}
{{- if $keys }}
initContainers:
  - name: key-files
    image: {{ required "keyFiles.image: key files need an image with a shell, which copies them" .root.Values.keyFiles.image | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    command: [sh, -c, "umask 077 && cp -L /run/axiommind/secrets/* /run/axiommind/keys/ && chmod 600 /run/axiommind/keys/*"]
    securityContext:
      {{- include "axiommind.security" .root | nindent 6 }}
    resources:
      requests: {cpu: 10m, memory: 16Mi}
      limits: {memory: 64Mi}
    volumeMounts:
      - name: key-secrets
        mountPath: /run/axiommind/secrets
        readOnly: true
      - name: keys
        mountPath: /run/axiommind/keys
{{- end }}
containers:
  {{- .container | nindent 2 }}
    image: {{ include "axiommind.image" .root | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    # The programs read sources in their working directory: here there are none.
    workingDir: /
    env:
      {{- include "axiommind.env" (dict "root" .root "component" .component "dsn" .dsn "eraser" .eraser) | nindent 6 }}
    securityContext:
      {{- include "axiommind.security" .root | nindent 6 }}
    volumeMounts:
      {{- include "axiommind.mounts" (dict "root" .root "files" $files "keys" $keys) | nindent 6 }}
volumes:
  - name: settings
    configMap:
      name: {{ .settings }}
  - name: state
    {{- if .stateClaim }}
    persistentVolumeClaim:
      claimName: {{ .stateClaim | quote }}
    {{- else }}
    emptyDir: {}
    {{- end }}
  {{- if $files }}
  - name: files
    {{- include "axiommind.projected" $files | nindent 4 }}
  {{- end }}
  {{- if $keys }}
  - name: key-secrets
    {{- include "axiommind.projected" $keys | nindent 4 }}
  - name: keys
    emptyDir: {medium: Memory, sizeLimit: 1Mi}
  {{- end }}
  {{- with .root.Values.memory.existingClaim }}
  - name: memory
    persistentVolumeClaim:
      claimName: {{ . | quote }}
  {{- end }}
  {{- with .root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .scheduling }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "axiommind.selector" $.root | nindent 8 }}
        app.kubernetes.io/component: {{ $.component }}
{{- range $name := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.scheduling $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
