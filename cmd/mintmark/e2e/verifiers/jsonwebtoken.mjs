import { bearer, serve } from './serve.mjs'
import jwt from 'jsonwebtoken'
import jwksClient from 'jwks-rsa'

const issuer = process.env.ISSUER
const audience = process.env.AUDIENCE

const keys = jwksClient({ jwksUri: issuer + '/.well-known/jwks.json', rateLimit: true })

async function verify(token) {
  const header = jwt.decode(token, { complete: true })?.header
  if (header?.typ !== 'at+jwt') throw new Error('not an access token')
  const key = await keys.getSigningKey(header.kid)
  return jwt.verify(token, key.getPublicKey(), { issuer, audience, algorithms: ['ES256'] })
}

serve(bearer(verify))
