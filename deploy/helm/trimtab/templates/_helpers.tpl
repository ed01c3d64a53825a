{{- define "trimtab.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "trimtab.fullname" -}}
{{- $name := include "trimtab.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* Labels by which a Service or Deployment finds its pods. Takes (list $ component). */ -}}
{{- define "trimtab.selector" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: {{ include "trimtab.name" $ | quote }}
app.kubernetes.io/instance: {{ $.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- /* All labels of an object. Takes (list $ component). */ -}}
{{- define "trimtab.labels" -}}
{{- $ := index . 0 -}}
{{- include "trimtab.selector" . }}
app.kubernetes.io/version: {{ $.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" $.Chart.Name $.Chart.Version | quote }}
{{- with $.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "trimtab.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ printf "%s@%s" .repository .digest }}
{{- else }}{{ printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What the baseline names, as JSON: {"cohorts": […], "capNamespaces": […]}. Refuses what can not be ours. */ -}}
{{- define "trimtab.owned" -}}
{{- $cohorts := list }}
{{- $capNamespaces := list }}
{{- range $text := regexSplit "(?m)^---[ \t]*$" .Values.baseline -1 }}
{{- $document := fromYaml $text }}
{{- if $document }}
{{- with $document.Error }}{{ fail (printf "baseline: %s" .) }}{{ end }}
{{- $metadata := default dict $document.metadata }}
{{- $name := default "" $metadata.name }}
{{- if and (eq (default "" $document.kind) "Cohort") (hasPrefix "trimtab-" $name) }}
{{- $cohorts = append $cohorts $name }}
{{- else if and (eq (default "" $document.kind) "ResourceQuota") (eq $name "trimtab-cap") $metadata.namespace }}
{{- $capNamespaces = append $capNamespaces $metadata.namespace }}
{{- else }}
{{- fail (printf "baseline: %s %q: expected a Cohort trimtab-… or a ResourceQuota trimtab-cap with its namespace" (default "no kind" $document.kind) $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "cohorts" (uniq $cohorts | sortAlpha) "capNamespaces" (uniq $capNamespaces | sortAlpha) | toJson }}
{{- end }}

{{- /* Metadata and start of the spec that all pods share. Takes (list $ component). */ -}}
{{- define "trimtab.podMetadata" -}}
labels:
  {{- include "trimtab.labels" . | nindent 2 }}
{{- with (index . 0).Values.pods.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Takes (list $ account): the program whose service account the pod has. */ -}}
{{- define "trimtab.podSpec" -}}
{{- $ := index . 0 -}}
serviceAccountName: {{ include "trimtab.fullname" $ }}-{{ index . 1 }}
automountServiceAccountToken: true
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with $.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with $.Values.pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.pods.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.pods.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
volumes:
- name: documents
  configMap:
    name: {{ default (printf "%s-documents" (include "trimtab.fullname" $)) $.Values.existingDocuments }}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- end }}

{{- /* What the containers of all pods share, after their name. */ -}}
{{- define "trimtab.container" -}}
image: {{ include "trimtab.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "trimtab.mounts" -}}
- {name: documents, mountPath: /etc/trimtab, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- end }}

{{- /* Options that all long-lived programs share. */ -}}
{{- define "trimtab.arguments" -}}
- --config=/etc/trimtab
- {{ printf "--cluster=%s" .Values.cluster.name | quote }}
{{- if ne (float64 .Values.timeScale) 1.0 }}
- {{ printf "--time-scale=%v" .Values.timeScale | quote }}
{{- end }}
{{- end }}
