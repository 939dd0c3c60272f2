// A third-party OpenID Connect provider, with the accounts of the test. It runs until
// it is killed, and prints its address when it is ready. Its one page asks for the
// account, without a password.
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { args } from './talk.mjs'

const server = createServer()
await new Promise((ready) => server.listen(args.port ?? 0, '127.0.0.1', ready))
// By its name the provider is another site for the browser than the service.
const issuer = `http://localhost:${server.address().port}`

const provider = new Provider(issuer, {
  clients: [{ client_id: args.client, client_secret: args.secret, redirect_uris: [args.redirect] }],
  findAccount: (_, sub) => args.accounts[sub] && { accountId: sub, claims: () => ({ sub, ...args.accounts[sub] }) },
  claims: { openid: ['sub'], profile: ['name', 'preferred_username', 'locale', 'zoneinfo'], email: ['email', 'email_verified'], groups: ['groups'] },
  cookies: { keys: ['of this test'] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  pkce: { required: () => true },
  // All users have given their consent.
  async loadExistingGrant(ctx) {
    const { client, session, params } = ctx.oidc
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
    grant.addOIDCScope(params.scope)
    await grant.save()
    return grant
  },
})

const page = `<!DOCTYPE html><html lang="en"><head><title>Example ID</title><link rel="icon" href="data:,"></head><body><h1>Who are you?</h1>
<form method="post"><label>Account <input name="account"></label> <button name="go" value="on">Go on</button> <button name="go" value="back">Cancel</button></form></body></html>`

const answer = provider.callback()
server.on('request', async (request, response) => {
  if (!request.url.startsWith('/interaction/')) return answer(request, response)
  try {
    if (request.method !== 'POST') {
      await provider.interactionDetails(request, response)
      response.setHeader('Content-Type', 'text/html; charset=utf-8')
      return response.end(page)
    }
    let body = ''
    for await (const part of request) body += part
    const form = new URLSearchParams(body)
    const result = form.get('go') === 'on' ? { login: { accountId: form.get('account') } } : { error: 'access_denied', error_description: 'Call 555-EVIL' }
    await provider.interactionFinished(request, response, result)
  } catch (err) {
    response.statusCode = 400
    response.end(String(err))
  }
})
console.log(JSON.stringify({ issuer }))
