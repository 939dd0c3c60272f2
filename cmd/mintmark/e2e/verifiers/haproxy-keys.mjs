// Writes the keys of Mintmark into a folder, in the form for HAProxy: a PEM file for
// each, and keys.cfg, which verifies a token with the key that it names.
//   ISSUER=http://127.0.0.1:8080 KEYS=/etc/haproxy/mintmark node haproxy-keys.mjs
import { createPublicKey } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'

const folder = resolve(process.env.KEYS)
const response = await fetch(process.env.ISSUER + '/.well-known/jwks.json')
if (!response.ok) throw new Error(`the key set: ${response.status}`)

const replace = (name, text) => {
  writeFileSync(`${folder}/${name}.new`, text)
  renameSync(`${folder}/${name}.new`, `${folder}/${name}`)
}

const rules = []
for (const jwk of (await response.json()).keys) {
  // A value in the configuration must not end its line.
  if (jwk.alg !== 'ES256' || !/^[\w-]{1,100}$/.test(jwk.kid)) continue
  replace(`${jwk.kid}.pem`, createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }))
  rules.push(
    `http-request set-var(txn.signed) http_auth_bearer,jwt_verify("ES256","${folder}/${jwk.kid}.pem")` +
      ` if { http_auth_bearer,jwt_header_query('$.kid') -m str ${jwk.kid} }`,
  )
}
if (rules.length === 0) throw new Error('the key set has no key for ES256')
replace('keys.cfg', ['defaults mintmark', ...rules].join('\n\t') + '\n')
