import { serve } from './serve.mjs'
import { auth } from 'express-oauth2-jwt-bearer'

const issuer = process.env.ISSUER
const audience = process.env.AUDIENCE

const guard = auth({
  issuer, audience, jwksUri: issuer + '/.well-known/jwks.json',
  tokenSigningAlg: 'ES256', strict: true,
})

serve(guard)
