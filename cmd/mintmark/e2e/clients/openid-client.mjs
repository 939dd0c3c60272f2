// Runs the whole life of a grant with openid-client.
import * as client from 'openid-client'
import { args, refusal, run, visit } from './talk.mjs'

const { issuer, clientId, secret, redirectURI, scope } = args

const authentication = (secret) =>
  ({
    client_secret_basic: () => client.ClientSecretBasic(secret),
    client_secret_post: () => client.ClientSecretPost(secret),
    none: () => client.None(),
  })[args.method]()

const discover = (address, secret) =>
  client.discovery(new URL(address), clientId, undefined, authentication(secret), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
  })

await run(async () => {
  const config = await discover(issuer, secret)
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectURI,
    scope,
    state,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })

  const exchange = (callback, checks = {}, as = config) =>
    client.authorizationCodeGrant(as, callback, { pkceCodeVerifier: verifier, expectedState: state, ...checks })
  const refresh = (token, scope) => client.refreshTokenGrant(config, token, scope ? { scope } : undefined)
  const me = (token) => client.fetchProtectedResource(config, token, new URL(issuer + '/v2/me'), 'GET')

  const callback = await visit(url)
  const mixedUp = new URL(callback)
  mixedUp.searchParams.set('iss', 'https://attacker.example')
  const noIssuer = new URL(callback)
  noIssuer.searchParams.delete('iss')
  const refused = {
    otherIssuer: await refusal(discover(issuer.replace('127.0.0.1', 'localhost'), secret)),
    wrongState: await refusal(exchange(callback, { expectedState: 'another-state' })),
    mixedUp: await refusal(exchange(mixedUp)),
    noIssuer: await refusal(exchange(noIssuer)),
    cancelled: await refusal(exchange(await visit(url, 'cancel'))),
    wrongVerifier: await refusal(exchange(callback, { pkceCodeVerifier: client.randomPKCECodeVerifier() })),
  }
  if (secret) {
    refused.wrongSecret = await refusal(exchange(callback, {}, await discover(issuer, 'not-the-secret')))
  }
  const first = await exchange(callback)
  const second = await refresh(first.refresh_token)
  refused.wider = await refusal(refresh(second.refresh_token, scope + ' SCHEDULE_WRITE'))
  const third = await refresh(second.refresh_token, 'PROFILE_READ')

  const profile = await (await me(third.access_token)).json()
  refused.tampered = await refusal(me(third.access_token.slice(0, -9) + 'AAAAAAAAA'))

  // A code that is used again ends the grant (RFC 6749 §4.1.2).
  refused.codeAgain = await refusal(exchange(callback))
  refused.afterwards = await refusal(refresh(third.refresh_token))

  return { first, second, third, profile, refused }
})
