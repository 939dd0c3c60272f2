// Runs the program that the developer settings show for Node.js.
import { args, refusal, run, visit } from './talk.mjs'

process.env.MINTMARK_CLIENT_SECRET = args.secret
const { start, callback, refresh } = await import(args.file)

await run(async () => {
  const session = {}
  const another = {}
  const answer = await visit(start(session))
  start(another)
  const foreign = await refusal(callback(another, answer))
  const mixed = new URL(answer)
  mixed.searchParams.set('iss', 'https://another.example')
  const mixedUp = await refusal(callback({ ...session }, mixed))
  mixed.searchParams.delete('iss')
  const nobodys = await refusal(callback({ ...session }, mixed))
  const first = await callback(session, answer)
  const again = await refusal(callback(session, answer))
  const second = await refresh(first.refresh_token)
  const cancelled = await refusal(callback(session, await visit(start(session), 'cancel')))
  return { first, second, refused: { foreign, mixedUp, nobodys, again, cancelled } }
})
