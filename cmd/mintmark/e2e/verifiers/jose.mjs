import { bearer, serve } from './serve.mjs'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const issuer = process.env.ISSUER
const audience = process.env.AUDIENCE

const keys = createRemoteJWKSet(new URL(issuer + '/.well-known/jwks.json'))

async function verify(token) {
  const { payload } = await jwtVerify(token, keys, {
    issuer, audience, typ: 'at+jwt', algorithms: ['ES256'],
    requiredClaims: ['sub', 'client_id', 'exp', 'iat', 'jti'],
  })
  return payload
}

serve(bearer(verify))
