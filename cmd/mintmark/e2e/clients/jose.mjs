// Verifies each token in args.tokens with jose and the published key set.
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { args, run } from './talk.mjs'

await run(async () => {
  const keys = createRemoteJWKSet(new URL(args.jwksURI))
  const verdicts = {}
  for (const [name, token] of Object.entries(args.tokens)) {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer: args.issuer,
        audience: args.audience,
        typ: 'at+jwt',
        algorithms: [args.algorithm],
        requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'client_id'],
        ...(args.at ? { currentDate: new Date(args.at * 1000) } : {}),
      })
      verdicts[name] = { payload, header: protectedHeader }
    } catch (err) {
      verdicts[name] = { refused: err.code ?? String(err) }
    }
  }
  return verdicts
})
