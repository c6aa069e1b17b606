#!/usr/bin/env bash
# Gives the admission webhook a certificate where there is no cert-manager: makes an authority and a certificate, stores
# the certificate in the Secret rollout-hooks-tls and tells the API server to trust the authority. Safe to run again: it renews.
set -euo pipefail

usage='Usage: scripts/webhook-certificate.sh [--days N]     (needs openssl and kubectl; run it after kubectl apply -k manifests)'
days=365
case "${1:-}" in
'') ;;
--days) days="${2:?$usage}" ;;
*) echo "$usage" >&2 && exit 2 ;;
esac

namespace=rollout-hooks
host="rollout-hooks.$namespace.svc"
dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$days" \
  -keyout ca.key -out ca.crt -subj '/CN=rollout-hooks webhook authority' 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
  -keyout tls.key -out tls.csr -subj "/CN=$host" 2>/dev/null
printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth\n' "$host" >extensions
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days "$days" \
  -extfile extensions -out tls.crt 2>/dev/null

kubectl create secret tls rollout-hooks-tls --namespace "$namespace" --cert tls.crt --key tls.key \
  --dry-run=client --output yaml | kubectl apply --server-side --force-conflicts -f -

# The authority before this one stays trusted, until the next run: the Pods still show its certificate for a moment.
kubectl get mutatingwebhookconfiguration rollout-hooks --output jsonpath='{.webhooks[0].clientConfig.caBundle}' |
  base64 --decode | openssl x509 >previous.crt 2>/dev/null || true
bundle="$(cat ca.crt previous.crt | base64 | tr -d '\n')"
for kind in mutatingwebhookconfiguration validatingwebhookconfiguration; do
  count="$(kubectl get "$kind" rollout-hooks --output jsonpath='{.webhooks[*].name}' | wc -w)"
  patch=''
  for ((i = 0; i < count; i++)); do
    patch+="${patch:+,}{\"op\":\"add\",\"path\":\"/webhooks/$i/clientConfig/caBundle\",\"value\":\"$bundle\"}"
  done
  kubectl patch "$kind" rollout-hooks --type json --patch "[$patch]"
done
kubectl rollout restart deployment/rollout-hooks --namespace "$namespace"
