import { onToken, token } from './entry'
import './app.css'
import { mount } from 'svelte'
import App from './App.svelte'
import { session } from './stores/session.svelte'

const target = document.getElementById('app')
if (!target) throw new Error('index.html has no element for the page')
void session.begin(token)
onToken((t) => void session.begin(t))
mount(App, { target })
