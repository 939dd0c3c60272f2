// Runs the whole life of a grant with oauth4webapi.
import * as oauth from 'oauth4webapi'
import { args, refusal, run, visit } from './talk.mjs'

const http = { [oauth.allowInsecureRequests]: true }
const { issuer, clientId, secret, redirectURI, scope } = args

const authentication = (secret) =>
  ({
    client_secret_basic: () => oauth.ClientSecretBasic(secret),
    client_secret_post: () => oauth.ClientSecretPost(secret),
    none: () => oauth.None(),
  })[args.method]()

async function discover(address) {
  const url = new URL(address)
  return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...http }))
}

await run(async () => {
  const as = await discover(issuer)
  const client = { client_id: clientId }
  const auth = authentication(secret)
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()

  const url = new URL(as.authorization_endpoint)
  for (const [name, value] of Object.entries({
    client_id: clientId,
    redirect_uri: redirectURI,
    response_type: 'code',
    scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })) {
    url.searchParams.set(name, value)
  }

  const check = async (callback, expected = state) => oauth.validateAuthResponse(as, client, callback, expected)
  const exchange = async (parameters, auth, verifier) =>
    oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, auth, parameters, redirectURI, verifier, http),
    )
  const refresh = async (token, scope) =>
    oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, auth, token, {
        ...http,
        additionalParameters: scope ? { scope } : undefined,
      }),
    )
  const me = (token) => oauth.protectedResourceRequest(token, 'GET', new URL(issuer + '/v2/me'), undefined, undefined, http)
  const claims = (token) =>
    oauth.validateJwtAccessToken(
      as,
      new Request('http://resource.example', { headers: { authorization: `Bearer ${token}` } }),
      args.audience,
      http,
    )

  const callback = await visit(url)
  const mixedUp = new URL(callback)
  mixedUp.searchParams.set('iss', 'https://attacker.example')
  const noIssuer = new URL(callback)
  noIssuer.searchParams.delete('iss')
  const refused = {
    otherIssuer: await refusal(discover(issuer.replace('127.0.0.1', 'localhost'))),
    wrongState: await refusal(check(callback, 'another-state')),
    mixedUp: await refusal(check(mixedUp)),
    noIssuer: await refusal(check(noIssuer)),
    cancelled: await refusal(check(await visit(url, 'cancel'))),
  }

  const parameters = await check(callback)
  refused.wrongVerifier = await refusal(exchange(parameters, auth, oauth.generateRandomCodeVerifier()))
  if (secret) {
    refused.wrongSecret = await refusal(exchange(parameters, authentication('not-the-secret'), verifier))
  }
  const first = await exchange(parameters, auth, verifier)
  const second = await refresh(first.refresh_token)
  refused.wider = await refusal(refresh(second.refresh_token, scope + ' SCHEDULE_WRITE'))
  const third = await refresh(second.refresh_token, 'PROFILE_READ')

  const profile = await (await me(third.access_token)).json()
  refused.tampered = await refusal(me(third.access_token.slice(0, -9) + 'AAAAAAAAA'))

  // A code that is used again ends the grant (RFC 6749 §4.1.2).
  refused.codeAgain = await refusal(exchange(parameters, auth, verifier))
  refused.afterwards = await refusal(refresh(third.refresh_token))

  return { first, second, third, profile, claims: await claims(first.access_token), refused }
})
