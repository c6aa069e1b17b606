#!/usr/bin/env bash
# Gives the admission webhook a certificate where there is no cert-manager: makes an authority (Secret rollout-hooks-root), signs a
# certificate with it (Secret rollout-hooks-tls) and tells the API server to trust the authority. Safe to run again: it renews the certificate.
set -euo pipefail

usage='Usage: dev/scripts/webhook-certificate.sh [--days N]     (needs openssl and kubectl; run it after kubectl apply -k manifests)'
days=365
case "${1:-}" in
'') ;;
--days) days="${2:?$usage}" ;;
*) echo "$usage" >&2 && exit 2 ;;
esac

namespace=rollout-hooks
authority=rollout-hooks-root
host="rollout-hooks.$namespace.svc"
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# The authority outlives the certificates that it signs, so that a renewal does not change whom the API server trusts.
stored() { kubectl get secret "$authority" --namespace "$namespace" --output jsonpath="{.data.tls\\.$1}" 2>/dev/null | base64 --decode; }
stored crt >ca.crt || true
stored key >ca.key || true
if ! openssl x509 -in ca.crt -noout -checkend "$((days * 86400))" >/dev/null 2>&1; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$((days + 3650))" \
    -keyout ca.key -out ca.crt -subj '/CN=rollout-hooks webhook authority' 2>/dev/null
  kubectl create secret tls "$authority" --namespace "$namespace" --cert ca.crt --key ca.key \
    --dry-run=client --output yaml | kubectl apply --server-side --force-conflicts -f -
fi
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
  -keyout tls.key -out tls.csr -subj "/CN=$host" 2>/dev/null
printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth\n' "$host" >extensions
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days "$days" \
  -extfile extensions -out tls.crt 2>/dev/null

# The authority before this one stays trusted, until the next run: the Pods still show its certificate for a moment.
kubectl get mutatingwebhookconfiguration rollout-hooks --output jsonpath='{.webhooks[0].clientConfig.caBundle}' |
  base64 --decode | openssl x509 >previous.crt 2>/dev/null || true
cmp -s ca.crt previous.crt && : >previous.crt
bundle="$(cat ca.crt previous.crt | base64 | tr -d '\n')"
for kind in mutatingwebhookconfiguration validatingwebhookconfiguration; do
  count="$(kubectl get "$kind" rollout-hooks --output jsonpath='{.webhooks[*].name}' | wc -w)"
  patch=''
  for ((i = 0; i < count; i++)); do
    patch+="${patch:+,}{\"op\":\"add\",\"path\":\"/webhooks/$i/clientConfig/caBundle\",\"value\":\"$bundle\"}"
  done
  # Under a name of its own: Flux takes back what is changed under kubectl's.
  kubectl patch "$kind" rollout-hooks --type json --patch "[$patch]" --field-manager rollout-hooks-certificate
done
# Trusted before it is shown.
kubectl create secret tls rollout-hooks-tls --namespace "$namespace" --cert tls.crt --key tls.key \
  --dry-run=client --output yaml | kubectl apply --server-side --force-conflicts -f -
kubectl rollout restart deployment/rollout-hooks --namespace "$namespace"
